#include "infer/risk.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "infer/filter_pass.hpp"
#include "infer/infer_cases.hpp"
#include "infer/refine.hpp"

namespace kalmia::test {
namespace {

using infer::RiskOf;
using model::SmootherKind;

constexpr int kChannels = 2;

// Waves, measured with the model's noise, which is correlated; some values are missing.
struct Waves {
  std::vector<double> truth, y;

  Waves(const model::LearnedModel<float>& model, int steps) {
    const Matrix root =
        Eigen::Map<const Matrix>(model.emission().R().data(), kChannels, kChannels).llt().matrixL();
    RandomStream random(41, "waves");
    const int nu = static_cast<int>(model.description().tails);
    for (int k = 0; k < steps; ++k) {
      Eigen::Vector2d signs(random.normal(), random.normal());
      Eigen::Vector2d noise = root * signs;
      for (double& value : noise) {
        double chi_square = 0;
        for (int i = 0; i < nu; ++i) chi_square += std::pow(random.normal(), 2);
        if (nu > 0) value *= std::sqrt(nu / chi_square);
      }
      for (int c = 0; c < kChannels; ++c) {
        truth.push_back(60 * std::sin(0.05 * (1 + c) * k));
        y.push_back(random.uniform() < 0.1 ? std::nan("") : truth.back() + noise(c));
      }
    }
  }
  infer::SeriesView view() const { return {y.data(), static_cast<int>(y.size()) / kChannels}; }
};

// Mean squares over the noise's variance, of the measured values that count.
struct Squares {
  double error = 0, noise = 0, values = 0;
};

// Pieces of waves of which neither the beginning nor the end counts.
constexpr int kPieces = 40, kSteps = 300;
constexpr infer::ScoredSteps kCounted{50, 280};

Squares squares(const model::LearnedModel<float>& model, const Waves& waves,
                std::span<const infer::SeriesView> pieces, RiskOf smoother, ThreadTeam& team) {
  const auto name = [](int) { return std::string(); };
  infer::FilterPass pass = infer::run_pass(model, pieces, {true, true, true}, team, name);
  if (smoother == RiskOf::Linearized) {
    infer::smooth_pass(pass, team, name);
    infer::refine_pass(model, pieces, pass, {}, team, name);
  } else if (smoother == RiskOf::Networks) {
    infer::smooth_by_networks(model, pieces, pass, team, name);
  }
  const Moments& found =
      smoother == RiskOf::Filtered ? pass.moments.filtered : pass.moments.smoothed;
  const double nu = model.description().tails;
  Squares result;
  for (std::size_t p = 0; p < kPieces; ++p)
    for (std::size_t k = kCounted.begin; k < kCounted.end; ++k)
      for (std::size_t c = 0; c < kChannels; ++c) {
        const std::size_t i = (p * kSteps + k) * kChannels + c;
        if (std::isnan(waves.y[i])) continue;
        const double R = model.emission().R()[c * (kChannels + 1)];
        // Positions and velocities take turns.
        const double error = found.mean[2 * i] - waves.truth[i];
        result.error += error * error / R;
        const double square = std::pow(waves.y[i] - waves.truth[i], 2) / R;
        // As the header has it for Student-t noise.
        result.noise += nu == 0 ? square
                                : 1 + ((nu + 1) * square / (nu + square) - 1) * (nu + 3) *
                                          (nu + 5) / ((nu + 1) * (nu + 2));
        result.values += 1;
      }
  result.error /= result.values;
  result.noise /= result.values;
  return result;
}

// What the estimate knows too little of is how much noise there happens to be; that is put right.
void expect_risk(const model::LearnedModel<float>& model, RiskOf smoother) {
  ThreadTeam team(2);
  const Waves waves(model, kPieces * kSteps);
  std::vector<infer::SeriesView> pieces;
  for (std::size_t p = 0; p < kPieces; ++p)
    pieces.push_back({waves.y.data() + p * kSteps * kChannels, kSteps});
  const std::vector<infer::ScoredSteps> counted(kPieces, kCounted);
  const Squares s = squares(model, waves, pieces, smoother, team);
  const double estimated = infer::estimated_risk(model, pieces, counted, smoother, team, 8).error;
  // Of 2 n (y_s - truth) / R, and as much again for the probes.
  const double deviation = 2 * std::sqrt(2 * s.error / s.values);
  EXPECT_NEAR(estimated - (s.noise - 1), s.error, 4 * deviation);
  EXPECT_LT(4 * deviation, 0.25 * s.error) << "the test should be able to tell";
}

TEST(Risk, TheDifferenceOfTwoIsKnownBetterThanEach) {
  // Parts of two estimates that share most of what is random; the rest has unit deviation.
  RandomStream random(3, "parts");
  infer::Risk a, b, other;
  for (std::size_t i = 0; i < 200 * infer::kRiskBlock; ++i) {
    const double shared = 5 * random.normal();
    a.parts.push_back(shared + random.normal());
    b.parts.push_back(shared);
    other.parts.push_back(5 * random.normal());
  }
  const double root = std::sqrt(static_cast<double>(a.parts.size()));
  EXPECT_NEAR(infer::difference_error(a, b) * root, 1, 0.2);
  EXPECT_NEAR(infer::difference_error(b, other) * root, std::sqrt(50.0), 0.2 * std::sqrt(50.0));
  EXPECT_EQ(infer::difference_error(a, a), 0);
  // Parts that come in groups of 8 alike count as one: the error is sqrt(8) times as large.
  for (std::size_t i = 0; i < a.parts.size(); ++i) a.parts[i] = b.parts[i] + other.parts[i / 8 * 8];
  EXPECT_NEAR(infer::difference_error(a, b) * root, 5 * std::sqrt(8.0), std::sqrt(8.0));
  a.parts.resize(2 * infer::kRiskBlock - 1);
  EXPECT_TRUE(std::isinf(infer::difference_error(a, b)));
}

TEST(Risk, IsTheErrorOfTheLinearizedSmoother) {
  expect_risk(*static_case(kChannels).make<float>(), RiskOf::Linearized);
  expect_risk(*network_case(kChannels, 42).make<float>(), RiskOf::Linearized);
}

TEST(Risk, IsTheErrorOfTheFilter) {
  expect_risk(*static_case(kChannels).make<float>(), RiskOf::Filtered);
}

// A static model with this deviation of the process noise, under Student-t noise.
std::unique_ptr<model::LearnedModel<float>> student_model(double tails, double process) {
  LearnedCase made = static_case(kChannels);
  made.description.tails = tails;
  const heads::Architecture architecture = architecture_of(made.description);
  const std::vector<double> L = whole_triangle(architecture.state_dim(), process);
  std::copy(L.begin(), L.end(),
            made.parameters.begin() + architecture.decoder.bias.back() + architecture.L_row());
  return made.make<float>();
}

// Under Student-t noise it is right to second order: within a fifth where the error is below a
// fifth of R. What it is for is the order of estimators, those included that follow the noise.
TEST(Risk, IsTheErrorUnderStudentNoise) {
  ThreadTeam team(2);
  for (const double nu : {3.0, 10.0})
    for (const RiskOf estimator : {RiskOf::Filtered, RiskOf::Linearized}) {
      SCOPED_TRACE("nu = " + std::to_string(nu));
      std::vector<double> errors, estimates;
      for (const double process : {4.0, 16.0, 64.0}) {
        const auto model = student_model(nu, process);
        const Waves waves(*model, kPieces * kSteps);
        std::vector<infer::SeriesView> pieces;
        for (std::size_t p = 0; p < kPieces; ++p)
          pieces.push_back({waves.y.data() + p * kSteps * kChannels, kSteps});
        const std::vector<infer::ScoredSteps> counted(kPieces, kCounted);
        const Squares s = squares(*model, waves, pieces, estimator, team);
        const infer::Risk risk = infer::estimated_risk(*model, pieces, counted, estimator, team, 8);
        errors.push_back(s.error);
        estimates.push_back(risk.error - (s.noise - 1));
        const double deviation = 2 * std::sqrt(2 * s.error / s.values);
        if (s.error < 0.2) {
          EXPECT_NEAR(estimates.back(), s.error, 4 * deviation + 0.2 * s.error) << process;
        }
        EXPECT_GT(risk.claimed, 0);
      }
      for (std::size_t i = 0; i + 1 < errors.size(); ++i)
        EXPECT_EQ(errors[i] < errors[i + 1], estimates[i] < estimates[i + 1]) << i;
    }
}

// No outlier carries it away.
TEST(Risk, IsBoundedUnderStudentNoise) {
  ThreadTeam team(1);
  const auto model = student_model(3, 8);
  Waves waves(*model, 400);
  const infer::SeriesView piece = waves.view();
  const infer::ScoredSteps counted{50, 350};
  const auto risk = [&] {
    return infer::estimated_risk(*model, {&piece, 1}, {&counted, 1}, RiskOf::Linearized, team)
        .error;
  };
  const double before = risk();
  waves.y[200 * kChannels] = 1e6;
  EXPECT_NEAR(risk(), before, 0.1);
}

TEST(Risk, IsTheErrorOfATrainedSmootherEvenIfItLeaks) {
  for (const SmootherKind kind :
       {SmootherKind::Fused, SmootherKind::Recurrent, SmootherKind::Recursive}) {
    SCOPED_TRACE(smoother_name(kind));
    const auto model = network_case(kChannels, 42).make<float>();
    give_smoother(*model, 43, kind);
    expect_risk(*model, RiskOf::Networks);
  }
}

TEST(Risk, CountsOnlyWhatItShould) {
  ThreadTeam team(1);
  const auto model = static_case(kChannels).make<float>();
  Waves waves(*model, 400);
  const infer::SeriesView piece = waves.view();
  const auto risk = [&](infer::ScoredSteps counted) {
    return infer::estimated_risk(*model, {&piece, 1}, {&counted, 1}, RiskOf::Linearized, team)
        .error;
  };
  // Far from what counts, a value that is far off changes nothing.
  const double before = risk({50, 200});
  waves.y[300 * kChannels] = 1e4;
  EXPECT_NEAR(risk({50, 200}), before, 1e-6);
  EXPECT_GT(risk({50, 350}), 100 * std::abs(before));
  EXPECT_TRUE(std::isnan(risk({50, 50})));
}

TEST(Risk, OfNothingMeasuredIsNotANumber) {
  ThreadTeam team(1);
  const auto model = static_case(kChannels).make<float>();
  const std::vector<double> y(100 * kChannels, std::nan(""));
  const infer::SeriesView piece{y.data(), 100};
  const infer::ScoredSteps counted{0, 100};
  EXPECT_TRUE(std::isnan(
      infer::estimated_risk(*model, {&piece, 1}, {&counted, 1}, RiskOf::Linearized, team).error));
}

TEST(Risk, DoesNotDependOnThreads) {
  const auto model = static_case(kChannels).make<float>();
  const Waves waves(*model, 500);
  const infer::SeriesView half{waves.y.data(), 250}, rest{waves.y.data() + 250 * kChannels, 250};
  const std::vector<infer::SeriesView> pieces{half, rest};
  const std::vector<infer::ScoredSteps> counted(2, {0, 250});
  ThreadTeam one(1), two(2);
  EXPECT_EQ(infer::estimated_risk(*model, pieces, counted, RiskOf::Linearized, one).error,
            infer::estimated_risk(*model, pieces, counted, RiskOf::Linearized, two).error);
}

}  // namespace
}  // namespace kalmia::test
