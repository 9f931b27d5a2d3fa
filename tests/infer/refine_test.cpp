#include "infer/refine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalman/classical/batch.hpp"
#include "support/joint_posterior.hpp"

namespace kalmia::infer {
namespace {

using kalman::row_at;

constexpr RequestedMoments kAll{true, true, true};

std::string name(int) { return "a piece"; }

// Two channels of constant velocity in their own units; one value is far out, one is missing.
class RefineTest : public testing::Test {
 protected:
  explicit RefineTest(double tails = 4) {
    model::ModelDescription description = test::unscaled(test::motion_description(2));
    description.tails = tails;
    model_ = test::static_case(description).make<float>();
    RandomStream random(61, "refine");
    for (int i = 0; i < 2 * kSteps; ++i) y_.push_back(30 * random.normal());
    y_[kOutlier] += 2000;
    y_[kMissing] = std::nan("");
    pieces_ = {{y_.data(), kSteps}};
  }
  FilterPass smoothed() {
    FilterPass pass = run_pass(*model_, pieces_, kAll, team_, name);
    smooth_pass(pass, team_, name);
    return pass;
  }

  static constexpr int kSteps = 40;
  static constexpr std::size_t kOutlier = 41, kMissing = 14;
  std::unique_ptr<model::LearnedModel<float>> model_;
  std::vector<double> y_;
  std::vector<SeriesView> pieces_;
  ThreadTeam team_{1};
};

class RefineGaussianTest : public RefineTest {
 protected:
  RefineGaussianTest() : RefineTest(0) {}
};

TEST_F(RefineTest, WeightsAreThoseOfTheSmoothedResiduals) {
  const FilterPass pass = smoothed();
  const std::vector<double> weights = student_weights(*model_, pieces_, pass);
  ASSERT_EQ(weights.size(), y_.size());
  const std::vector<double>& R = model_->emission().R();
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const std::size_t k = i / 2, m = i % 2;
    if (i == kMissing) {
      EXPECT_EQ(weights[i], 1);
      continue;
    }
    // Positions are the states 0 and 2.
    const double e = y_[i] - pass.moments.smoothed.mean[4 * k + 2 * m];
    const double v = pass.moments.smoothed.covariance[16 * k + 10 * m];
    EXPECT_NEAR(weights[i], 5 / (4 + (e * e + v) / R[3 * m]), 1e-12) << i;
  }
  EXPECT_LT(weights[kOutlier], 0.01);
}

TEST_F(RefineTest, StatedNoiseIsPartOfTheWeights) {
  const std::vector<double> stated(y_.size(), 4.0);
  const FilterPass pass = smoothed();
  const std::vector<double> plain = student_weights(*model_, pieces_, pass);
  pieces_[0].weight = stated.data();
  const std::vector<double> weights = student_weights(*model_, pieces_, pass);
  const std::size_t i = 20;
  // 5 w0 / (4 + w0 q) with q from 5 / (4 + q).
  const double q = 5 / plain[i] - 4;
  EXPECT_NEAR(weights[i], 5 * 4 / (4 + 4 * q), 1e-12);
}

// With the weights given, a pass is that of Gaussian noise R / w.
TEST_F(RefineTest, GivenWeightsAreNotWeighedAgain) {
  const std::vector<double> ones(y_.size(), 1.0);
  pieces_[0].weight = ones.data();
  RunSettings settings;
  settings.weights_given = true;
  const FilterPass given = run_pass(*model_, pieces_, kAll, team_, name, settings);
  model::ModelDescription gaussian = model_->description();
  gaussian.tails = 0;
  const auto plain = test::static_case(gaussian).make<float>();
  const FilterPass expected = run_pass(*plain, pieces_, kAll, team_, name);
  for (std::size_t i = 0; i < given.moments.filtered.mean.size(); ++i)
    EXPECT_EQ(given.moments.filtered.mean[i], expected.moments.filtered.mean[i]) << i;
  const FilterPass robust = run_pass(*model_, pieces_, kAll, team_, name);
  EXPECT_GT(std::abs(robust.moments.filtered.mean[4 * 20 + 2] -
                     expected.moments.filtered.mean[4 * 20 + 2]),
            10);
}

TEST_F(RefineTest, RefiningASmoothedPassSettlesItsWeights) {
  FilterPass pass = smoothed();
  const std::vector<double> first = student_weights(*model_, pieces_, pass);
  refine_pass(*model_, pieces_, pass, {}, team_, name);
  const std::vector<double> second = student_weights(*model_, pieces_, pass);
  refine_pass(*model_, pieces_, pass, {}, team_, name);
  const std::vector<double> third = student_weights(*model_, pieces_, pass);
  double change = 0, further = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    change = std::max(change, std::abs(second[i] - first[i]));
    further = std::max(further, std::abs(third[i] - second[i]));
  }
  EXPECT_GT(change, 0);
  EXPECT_LT(further, 0.5 * change);
}

TEST_F(RefineGaussianTest, WithoutAnythingToRefineNothingChanges) {
  FilterPass pass = smoothed();
  const std::vector<double> before(pass.moments.smoothed.mean.begin(),
                                   pass.moments.smoothed.mean.end());
  EXPECT_TRUE(std::isnan(refine_pass(*model_, pieces_, pass, {}, team_, name)));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), pass.moments.smoothed.mean.begin()));
}

TEST_F(RefineGaussianTest, ASeriesWithoutStepsIsNoProblem) {
  pieces_[0].steps = 0;
  FilterPass pass = smoothed();
  refine_pass(*model_, pieces_, pass, {5, 0.1}, team_, name);
  EXPECT_TRUE(pass.moments.smoothed.mean.empty());
}

// Of a linear map: as if the model had that much process noise.
TEST_F(RefineGaussianTest, ProcessNoiseIsAShareOfTheModels) {
  RunSettings quarter;
  quarter.process_noise = 0.25;
  const FilterPass pass = run_pass(*model_, pieces_, kAll, team_, name, quarter);
  const FilterPass whole = run_pass(*model_, pieces_, kAll, team_, name);
  // P[1|<1] = F P[0|<=0] F' + q Q, and the first step has none of it.
  for (std::size_t n = 0; n < 16; ++n)
    EXPECT_EQ(pass.moments.filtered.covariance[n], whole.moments.filtered.covariance[n]);
  const auto difference = [&](const FilterPass& of, std::size_t n) {
    double sum = of.moments.predicted.covariance[16 + n];
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        sum -= of.F[16 + n / 4 * 4 + i] * of.moments.filtered.covariance[4 * i + j] *
               of.F[16 + n % 4 * 4 + j];
    return sum;
  };
  for (std::size_t n = 0; n < 16; ++n)
    EXPECT_NEAR(difference(pass, n), 0.25 * difference(whole, n), 1e-6);
  EXPECT_GT(difference(whole, 0), 1);
}

// However few the passes, the last one has the process noise that is wanted: of a linear model the
// result is that of one pass with it.
TEST_F(RefineGaussianTest, EveryNumberOfPassesEndsAtTheNoiseThatIsWanted) {
  const double wanted = 1.0 / 729;
  RunSettings settings;
  settings.process_noise = wanted;
  FilterPass expected = run_pass(*model_, pieces_, kAll, team_, name, settings);
  smooth_pass(expected, team_, name);
  for (const int passes : {1, 2, 3, 7, 20}) {
    SCOPED_TRACE(passes);
    FilterPass pass = smoothed();
    const double nll = refine_pass(*model_, pieces_, pass, {passes, wanted}, team_, name);
    EXPECT_EQ(nll, expected.moments.log_likelihood[0]);
    EXPECT_TRUE(std::equal(expected.moments.smoothed.mean.begin(),
                           expected.moments.smoothed.mean.end(),
                           pass.moments.smoothed.mean.begin()));
  }
}

// Two states, and channels that bend with each and with both:
//
//   a' = a + b / 8,  b' = 7/8 b - 40 sin(a / 100);   y = 300 exp(a / 200), b + a b / 500.
class BentModel {
 public:
  explicit BentModel(double tails) {
    model::ModelDescription d = test::unscaled(test::motion_description(2));
    d.units.x_scale = {1, 1};
    d.units.x_offset = {0, 0};
    d.prior = {};
    d.prior.kind = prior::PriorKind::System;
    System& system = d.prior.system;
    system.states = {"a", "b"};
    system.next = {{"a", "a + b/8"}, {"b", "0.875*b - 40*sin(a/100)"}};
    system.measure = {{"north", "300*exp(a/200)"}, {"east", "b + a*b/500"}};
    d.tails = tails;
    const test::LearnedCase made = test::static_case(d);
    model_ = made.make<float>();
    const auto covariance = [](double diagonal) {
      const std::vector<double> L = test::whole_triangle(2, diagonal);
      reference::Matrix root{{L[0], 0}, {L[1], L[2]}};
      return reference::Matrix(root * root.transpose());
    };
    system_.initial = {reference::Vector{{-3, 2}}, covariance(128)};
    system_.Q = covariance(32);
    system_.R = Eigen::Map<const reference::Matrix>(made.R.data(), 2, 2);
    system_.transition = [](const reference::Vector& x, int, reference::Step& step) {
      step.F = reference::Matrix{{1, 0.125}, {-0.4 * std::cos(x(0) / 100), 0.875}};
      step.e = reference::Vector{{x(0) + x(1) / 8, 0.875 * x(1) - 40 * std::sin(x(0) / 100)}} -
               step.F * x;
    };
    system_.emission = [](const reference::Vector& x, int, reference::Step& step) {
      const double up = std::exp(x(0) / 200);
      step.H = reference::Matrix{{1.5 * up, 0}, {x(1) / 500, 1 + x(0) / 500}};
      step.offset = reference::Vector{{300 * up, x(1) + x(0) * x(1) / 500}} - step.H * x;
    };
    simulate();
  }

  // Refines until nothing moves; then the most likely trajectory is where it was.
  void expect_most_likely(double weight) {
    const std::vector<double> stated(y_.size(), weight);
    SeriesView piece{y_.data(), kSteps};
    if (weight != 1) piece.weight = stated.data();
    const std::vector<SeriesView> pieces = {piece};
    ThreadTeam team(1);
    FilterPass pass = run_pass(*model_, pieces, kAll, team, name);
    smooth_pass(pass, team, name);
    const std::vector<double> first(pass.moments.smoothed.mean.begin(),
                                    pass.moments.smoothed.mean.end());
    for (int i = 0; i < 40; ++i) refine_pass(*model_, pieces, pass, {1}, team, name);
    std::vector<double> weights = stated;
    if (model_->description().tails > 0) weights = student_weights(*model_, pieces, pass);
    std::vector<reference::Matrix> R;
    std::vector<reference::Vector> start;
    for (std::size_t k = 0; k < kSteps; ++k) {
      const reference::Matrix scale =
          reference::Vector{{1 / std::sqrt(weights[2 * k]), 1 / std::sqrt(weights[2 * k + 1])}}
              .asDiagonal();
      R.push_back(scale * system_.R * scale);
      start.push_back(Eigen::Map<const reference::Vector>(first.data() + 2 * k, 2));
    }
    const std::vector<reference::Gaussian> expected =
        reference::most_likely_trajectory(system_, test::vectors(y_, 2), R, start, 40);
    double moved = 0;
    for (std::size_t k = 0; k < kSteps; ++k)
      for (Eigen::Index n = 0; n < 2; ++n) {
        const std::size_t at = 2 * k + static_cast<std::size_t>(n);
        const double deviation = std::sqrt(expected[k].cov(n, n));
        ASSERT_NEAR(pass.moments.smoothed.mean[at], expected[k].mean(n), 1e-6 * deviation) << at;
        ASSERT_NEAR(pass.moments.smoothed.covariance[4 * k + 3 * static_cast<std::size_t>(n)],
                    expected[k].cov(n, n), 1e-6 * expected[k].cov(n, n));
        moved = std::max(moved, std::abs(first[at] - expected[k].mean(n)) / deviation);
      }
    EXPECT_GT(moved, 0.3);
  }

 private:
  static constexpr int kSteps = 30;

  void simulate() {
    RandomStream random(67, "bent");
    const Eigen::LLT<reference::Matrix> P0(system_.initial.cov), Q(system_.Q), R(system_.R);
    const auto draw = [&](const Eigen::LLT<reference::Matrix>& noise) {
      return reference::Vector(noise.matrixL() *
                               reference::Vector{{random.normal(), random.normal()}});
    };
    reference::Vector x = system_.initial.mean + draw(P0);
    for (int k = 0; k < kSteps; ++k) {
      reference::Step step;
      system_.transition(x, k, step);
      x = step.F * x + step.e + draw(Q);
      system_.emission(x, k, step);
      const reference::Vector y = step.H * x + step.offset + draw(R);
      y_.insert(y_.end(), {y(0), k == 11 ? std::nan("") : y(1)});
    }
    y_[20] += 500;
  }

  std::unique_ptr<model::LearnedModel<float>> model_;
  reference::System system_;
  std::vector<double> y_;
};

TEST(Refine, EndsAtTheMostLikelyTrajectory) { BentModel(0).expect_most_likely(1); }
TEST(Refine, EndsAtTheMostLikelyTrajectoryWithStatedNoise) { BentModel(0).expect_most_likely(0.5); }
TEST(Refine, EndsAtTheMostLikelyTrajectoryWithStudentNoise) {
  BentModel(4).expect_most_likely(1);
  BentModel(4).expect_most_likely(2);
}

}  // namespace
}  // namespace kalmia::infer
