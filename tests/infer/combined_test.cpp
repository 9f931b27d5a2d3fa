#include "infer/combined.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "infer/fused_cases.hpp"
#include "infer/infer_cases.hpp"
#include "kalmia/fit.hpp"
#include "support/ensembles.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using test::expect_close;
using test::expect_same_bits;
using test::motion_data;

const std::vector<int> kMemberLengths = {70, 0, 130, 1};
constexpr int kMembers = 3;

std::unique_ptr<model::LearnedModel<float>> member(int j) {
  test::LearnedCase made = test::network_case(2, 60 + static_cast<std::uint64_t>(j));
  made.R[0] += 100 * j;  // a learned R differs from member to member
  return made.make<float>();
}

Model alone(int j) { return test::model_of(member(j)); }

Model ensemble() {
  std::vector<test::Member> members;
  for (int j = 0; j < kMembers; ++j) members.push_back(member(j));
  return test::model_of(std::move(members));
}

// The moments of a mixture of estimates, by raw moments about the first one's mean.
void expect_mixture(const Estimates& found, const std::vector<Estimates>& parts) {
  const auto N = static_cast<Eigen::Index>(found.state_names.size());
  for (std::size_t s = 0; s < found.series.size(); ++s)
    for (int k = 0; k < found.series[s].steps; ++k) {
      Eigen::VectorXd first = Eigen::VectorXd::Zero(N);
      RowMatrix second = RowMatrix::Zero(N, N);
      const Eigen::Map<const Eigen::VectorXd> origin(parts[0].series[s].mean.data() + k * N, N);
      for (const Estimates& part : parts) {
        const Eigen::VectorXd m =
            Eigen::Map<const Eigen::VectorXd>(part.series[s].mean.data() + k * N, N) - origin;
        first += m / double(parts.size());
        second += (Eigen::Map<const RowMatrix>(part.series[s].covariance.data() + k * N * N, N, N) +
                   m * m.transpose()) /
                  double(parts.size());
      }
      const RowMatrix expected = second - first * first.transpose();
      for (Eigen::Index i = 0; i < N; ++i) {
        const double deviation = std::sqrt(expected(i, i));
        ASSERT_NEAR(found.series[s].mean[static_cast<std::size_t>(k * N + i)], origin(i) + first(i),
                    1e-10 * deviation)
            << "series " << s << ", step " << k;
        for (Eigen::Index j = 0; j < N; ++j)
          ASSERT_NEAR(found.series[s].covariance[static_cast<std::size_t>((k * N + i) * N + j)],
                      expected(i, j), 1e-10 * deviation * std::sqrt(expected(j, j)))
              << "series " << s << ", step " << k;
      }
    }
}

// Of each step, from streams of the members.
double mixture_log_likelihood(const std::vector<Model>& members, const Dataset& data) {
  double sum = 0;
  for (const Series& series : data.series) {
    std::vector<std::vector<double>> steps;
    for (const Model& one : members) {
      Stream stream = one.stream();
      Stream::State state = stream.start();
      std::vector<double>& of_member = steps.emplace_back();
      for (int k = 0; k < series.steps; ++k) {
        stream.step(state, {series.y.data() + 2 * k, 2});
        of_member.push_back(stream.log_likelihood());
      }
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
      double density = 0;
      for (const auto& of_member : steps) density += std::exp(of_member[k]) / double(steps.size());
      sum += std::log(density);
    }
  }
  return sum;
}

std::vector<Model> all_alone() {
  std::vector<Model> all;
  for (int j = 0; j < kMembers; ++j) all.push_back(alone(j));
  return all;
}

// At the first step all is as it is under Gaussian noise but the variance of the noise itself.
TEST(Innovations, OfStudentNoiseHaveItsVariance) {
  test::LearnedCase made = test::static_case(2);
  const Model gaussian = test::public_model(made);
  made.description.tails = 4;
  const Model student = test::public_model(made);
  const std::vector<double> R = gaussian.noise(), wide = student.noise();
  EXPECT_NEAR(wide[0], 2 * R[0], 1e-9 * R[0]);
  EXPECT_NEAR(wide[3], 2 * R[3], 1e-9 * R[3]);
  EXPECT_GT(wide[1], R[1]);
  EXPECT_LT(wide[1], 2 * R[1]);
  const Dataset data = motion_data(2, {3}, 5, 0);
  const Innovations plain = gaussian.innovations(data, 1)[0], t = student.innovations(data, 1)[0];
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(t.covariance[i] - plain.covariance[i], wide[i] - R[i], 1e-6 * R[0]) << i;
  EXPECT_NEAR(t.noise[1], wide[3], 1e-9 * wide[3]);
}

TEST(Ensemble, EveryPosteriorIsTheMixtureOfItsMembers) {
  const Dataset data = motion_data(2, kMemberLengths, 61);
  const Model whole = ensemble();
  std::vector<Estimates> filtered, smoothed, iterated, forecast;
  for (const Model& one : all_alone()) {
    filtered.push_back(one.filter(data, 1));
    smoothed.push_back(one.smooth(data, 1));
    iterated.push_back(one.smooth(data, 1, {.iterations = 2}));
    forecast.push_back(one.forecast(data, 7, 1));
  }
  expect_mixture(whole.filter(data, 1), filtered);
  expect_mixture(whole.smooth(data, 1), smoothed);
  expect_mixture(whole.smooth(data, 1, {.iterations = 2}), iterated);
  expect_mixture(whole.forecast(data, 7, 1), forecast);
  const double expected = mixture_log_likelihood(all_alone(), data);
  for (const double found :
       {whole.filter(data, 1).log_likelihood, whole.smooth(data, 1).log_likelihood,
        whole.forecast(data, 7, 1).log_likelihood, whole.sample(data, 2, 1, 1).log_likelihood})
    EXPECT_NEAR(found, expected, 1e-4 * std::abs(expected));
}

TEST(Ensemble, InnovationsAreThoseOfTheMixturesPrediction) {
  const Dataset data = motion_data(2, kMemberLengths, 62);
  const std::vector<Innovations> found = ensemble().innovations(data, 1);
  std::vector<std::vector<Innovations>> parts;
  for (const Model& one : all_alone()) parts.push_back(one.innovations(data, 1));
  int spread = 0;
  for (std::size_t s = 0; s < found.size(); ++s)
    for (std::size_t k = 0; k < static_cast<std::size_t>(kMemberLengths[s]); ++k) {
      const double y0 = data.series[s].y[2 * k], y1 = data.series[s].y[2 * k + 1];
      if (std::isnan(y0) || std::isnan(y1)) continue;
      double r[2] = {}, S = 0;
      for (const auto& part : parts)
        for (std::size_t m = 0; m < 2; ++m) r[m] += part[s].residual[2 * k + m] / kMembers;
      double mean_S = 0;
      for (const auto& part : parts) {
        mean_S += part[s].covariance[4 * k + 1] / kMembers;
        S += (part[s].covariance[4 * k + 1] +
              (part[s].residual[2 * k] - r[0]) * (part[s].residual[2 * k + 1] - r[1])) /
             kMembers;
      }
      spread += std::abs(S - mean_S) > 1e-3 * std::abs(S) ? 1 : 0;
      EXPECT_NEAR(found[s].residual[2 * k], r[0], 1e-9);
      EXPECT_NEAR(found[s].residual[2 * k + 1], r[1], 1e-9);
      EXPECT_NEAR(found[s].covariance[4 * k + 1], S, 1e-9 * (1 + std::abs(S)));
    }
  EXPECT_GT(spread, 50);
  // Without a measurement there is no residual, but a covariance.
  Dataset gap = data;
  std::fill(gap.series[0].y.begin(), gap.series[0].y.end(), std::nan(""));
  const Innovations unseen = ensemble().innovations(gap, 1)[0];
  EXPECT_TRUE(std::isnan(unseen.residual[20]));
  EXPECT_TRUE(std::ranges::all_of(unseen.covariance, [](double v) { return std::isfinite(v); }));
}

TEST(Ensemble, TheNoiseIsTheMean) {
  const std::vector<double> R = ensemble().noise(), first = alone(0).noise();
  EXPECT_NEAR(R[0], first[0] + 100 * 0.25 * 0.25, 1e-12);
  EXPECT_DOUBLE_EQ(R[3], first[3]);
}

TEST(Ensemble, TrajectoriesAreTheMembers) {
  const Dataset data = motion_data(2, kMemberLengths, 63);
  constexpr int kCount = 12;
  const Estimates found = ensemble().sample(data, kCount, 9, 1);
  std::vector<Estimates> parts;
  for (const Model& one : all_alone()) parts.push_back(one.sample(data, kCount, 9, 1));
  std::vector<int> drawn(kMembers);
  ASSERT_EQ(found.series.size(), kCount * kMemberLengths.size());
  for (std::size_t i = 0; i < found.series.size(); ++i) {
    EXPECT_EQ(found.series[i].key, parts[0].series[i].key);
    if (found.series[i].steps == 0) continue;
    int matches = 0;
    for (std::size_t j = 0; j < parts.size(); ++j)
      if (parts[j].series[i].mean == found.series[i].mean) {
        ++matches;
        ++drawn[j];
      }
    EXPECT_EQ(matches, 1) << i;
  }
  for (const int count : drawn) EXPECT_GT(count, 4);
}

TEST(Ensemble, BitsDependNeitherOnThreadsNorOnCompany) {
  const Dataset data = motion_data(2, kMemberLengths, 64);
  const Model whole = ensemble();
  for (const int threads : {2, 3}) {
    expect_same_bits(whole.filter(data, threads), whole.filter(data, 1));
    expect_same_bits(whole.smooth(data, threads), whole.smooth(data, 1));
    expect_same_bits(whole.forecast(data, 5, threads), whole.forecast(data, 5, 1));
    expect_same_bits(whole.sample(data, 5, 2, threads), whole.sample(data, 5, 2, 1));
  }
  const Estimates one = whole.filter(test::alone(data, 2), 1);
  EXPECT_EQ(one.series[0].mean, whole.filter(data, 1).series[2].mean);
}

// The members that have networks for it make the fused posterior.
TEST(Ensemble, FusedSmoothing) {
  const Dataset data = motion_data(2, kMemberLengths, 65);
  const auto fused = [](std::uint64_t seed) { return test::fused_model(seed); };
  const auto of = [](std::unique_ptr<model::LearnedModel<float>> one) {
    return test::model_of(std::move(one));
  };
  const Model whole = test::model_of(std::vector<test::Member>{member(0), fused(71), fused(72)});
  const std::vector<Estimates> parts = {of(fused(71)).smooth(data, 1),
                                        of(fused(72)).smooth(data, 1)};
  expect_mixture(whole.smooth(data, 1), parts);
  expect_mixture(whole.smooth(data, 1, {.method = "fused"}), parts);
  const SmoothOptions linearized{.method = "linearized"};
  expect_mixture(whole.smooth(data, 1, linearized),
                 {alone(0).smooth(data, 1, linearized), of(fused(71)).smooth(data, 1, linearized),
                  of(fused(72)).smooth(data, 1, linearized)});
  EXPECT_THROW(ensemble().smooth(data, 1, {.method = "fused"}), ConfigError);
}

TEST(Ensemble, AFileGivesTheSameModel) {
  const Model whole =
      test::model_of(std::vector<test::Member>{member(0), test::fused_model(73), member(2)});
  const ScratchFolder folder;
  whole.save(folder.file("e.kalmia"));
  const Model loaded = Model::load(folder.file("e.kalmia"));
  const Dataset data = motion_data(2, kMemberLengths, 66);
  expect_same_bits(loaded.filter(data, 1), whole.filter(data, 1));
  expect_same_bits(loaded.smooth(data, 1), whole.smooth(data, 1));
  EXPECT_EQ(loaded.noise(), whole.noise());
  EXPECT_NE(loaded.info_json().find("\"members\": 3"), std::string::npos);
}

// Every number of a calibrated model from those of the same model without.
class CalibratedModel : public testing::Test {
 protected:
  static Model model(bool calibrated, int members) {
    std::vector<test::Member> all{members == 1 ? test::fused_model(81) : member(0)};
    for (int j = 1; j < members; ++j) all.push_back(member(j));
    std::optional<model::Calibration> calibration;
    if (calibrated) calibration = {2.5, 0.4, 1.75};
    return test::model_of(std::move(all), calibration);
  }
  // One with factors by distance, of each channel.
  static Model curved(int members) {
    std::vector<test::Member> all{members == 1 ? test::fused_model(81) : member(0)};
    for (int j = 1; j < members; ++j) all.push_back(member(j));
    model::Calibration calibration;
    calibration.filter = factors(0.5, 4);
    calibration.linearized = factors(0.25, 2);
    calibration.trained = factors(3, 0.75);
    return test::model_of(std::move(all), calibration);
  }
  static model::DistanceFactors factors(double near, double far) {
    model::DistanceFactors result;
    result.steps = {0.5, 1, 4};
    result.factors = {{near, 1.5 * near, far}, {0.5 * near, 2 * near, 3 * far}};
    result.unmeasured = 1.25;
    return result;
  }
  const Dataset data_ = motion_data(2, kMemberLengths, 82);
};

// s (P - N) + N with N = P H' R^-1 H P of the measured channels.
void expect_scaled(const Estimates& found, const Estimates& plain, const Dataset& data,
                   const Model& model, double factor) {
  const int N = model.state_dim(), M = model.meas_dim();
  const std::vector<double> H_all =
                                model.emission(std::vector<double>(static_cast<std::size_t>(N))),
                            R_all = model.noise();
  for (std::size_t s = 0; s < found.series.size(); ++s) {
    EXPECT_EQ(found.series[s].mean, plain.series[s].mean);
    for (int k = 0; k < found.series[s].steps; ++k) {
      std::vector<int> measured;
      for (int m = 0; m < M; ++m)
        if (!std::isnan(data.series[s].y[static_cast<std::size_t>(k * M + m)]))
          measured.push_back(m);
      const Eigen::Map<const RowMatrix> P(plain.series[s].covariance.data() + k * N * N, N, N);
      const RowMatrix H = Eigen::Map<const RowMatrix>(H_all.data(), M, N)(measured, Eigen::all);
      const RowMatrix R = Eigen::Map<const RowMatrix>(R_all.data(), M, M)(measured, measured);
      RowMatrix expected = factor * P;
      if (!measured.empty()) expected += (1 - factor) * P * H.transpose() * R.inverse() * H * P;
      const Eigen::Map<const RowMatrix> is(found.series[s].covariance.data() + k * N * N, N, N);
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
          ASSERT_NEAR(is(i, j), expected(i, j), 1e-9 * std::sqrt(P(i, i) * P(j, j)))
              << "series " << s << ", step " << k;
      EXPECT_GT(is.eval().selfadjointView<Eigen::Lower>().ldlt().vectorD().minCoeff(), 0);
    }
  }
}

TEST_F(CalibratedModel, CovariancesAreScaledBeforeTheMeasurement) {
  const Model plain = model(false, 1), scaled = model(true, 1);
  const SmoothOptions linearized{.method = "linearized"};
  expect_scaled(scaled.filter(data_, 1), plain.filter(data_, 1), data_, plain, 2.5);
  expect_scaled(scaled.smooth(data_, 1, linearized), plain.smooth(data_, 1, linearized), data_,
                plain, 0.4);
  expect_scaled(scaled.smooth(data_, 1), plain.smooth(data_, 1), data_, plain, 1.75);
  const Estimates after = scaled.forecast(data_, 3, 1), before = plain.forecast(data_, 3, 1);
  for (std::size_t s = 0; s < after.series.size(); ++s) {
    EXPECT_EQ(after.series[s].mean, before.series[s].mean);
    for (std::size_t i = 0; i < after.series[s].covariance.size(); ++i)
      EXPECT_NEAR(after.series[s].covariance[i], 2.5 * before.series[s].covariance[i],
                  1e-14 * std::abs(2.5 * before.series[s].covariance[i]));
  }
}

// D (P - N) D + N, with the factors of each state's channel at its own distances.
TEST_F(CalibratedModel, FactorsAreThoseOfTheDistances) {
  const Model plain = model(false, 1), scaled = curved(1);
  const SmoothOptions linearized{.method = "linearized"};
  const auto expect = [&](const Estimates& found, const Estimates& before,
                          const model::DistanceFactors& factors, bool between) {
    const int N = plain.state_dim(), M = plain.meas_dim();
    const std::vector<double> H_all =
        plain.emission(std::vector<double>(static_cast<std::size_t>(N)));
    const std::vector<double> R_all = plain.noise();
    for (std::size_t s = 0; s < found.series.size(); ++s) {
      const std::vector<double>& y = data_.series[s].y;
      const int steps = data_.series[s].steps;
      EXPECT_EQ(found.series[s].mean, before.series[s].mean);
      for (int k = 0; k < steps; ++k) {
        Eigen::VectorXd root(N);
        std::vector<int> measured;
        for (int m = 0; m < M; ++m) {
          double a = std::numeric_limits<double>::infinity(), b = a;
          for (int j = 0; j < steps; ++j) {
            if (j == k || std::isnan(y[static_cast<std::size_t>(j * M + m)])) continue;
            (j < k ? a : b) = std::min<double>(j < k ? a : b, std::abs(j - k));
          }
          if (!std::isnan(y[static_cast<std::size_t>(k * M + m)])) measured.push_back(m);
          const double distance = between ? 1 / (1 / a + 1 / b) : a;
          for (int n = 0; n < N; ++n)
            if (n / (N / M) == m)
              root(n) = std::exp(0.5 * factors.log_factor(static_cast<std::size_t>(m), distance));
        }
        const Eigen::Map<const RowMatrix> P(before.series[s].covariance.data() + k * N * N, N, N);
        const RowMatrix H = Eigen::Map<const RowMatrix>(H_all.data(), M, N)(measured, Eigen::all);
        const RowMatrix R = Eigen::Map<const RowMatrix>(R_all.data(), M, M)(measured, measured);
        RowMatrix noise = RowMatrix::Zero(N, N);
        if (!measured.empty()) noise = P * H.transpose() * R.inverse() * H * P;
        const RowMatrix expected =
            root.asDiagonal() * RowMatrix(P - noise) * root.asDiagonal() + noise;
        const Eigen::Map<const RowMatrix> is(found.series[s].covariance.data() + k * N * N, N, N);
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j)
            ASSERT_NEAR(is(i, j), expected(i, j), 1e-9 * std::sqrt(P(i, i) * P(j, j)))
                << "series " << s << ", step " << k;
        EXPECT_GT(is.eval().selfadjointView<Eigen::Lower>().ldlt().vectorD().minCoeff(), 0);
      }
    }
  };
  expect(scaled.filter(data_, 1), plain.filter(data_, 1), factors(0.5, 4), false);
  expect(scaled.smooth(data_, 1, linearized), plain.smooth(data_, 1, linearized), factors(0.25, 2),
         true);
  expect(scaled.smooth(data_, 1), plain.smooth(data_, 1), factors(3, 0.75), true);
}

// What has passed since the last value counts, not how many rows say so; and a gap is a forecast.
TEST_F(CalibratedModel, TimeCountsAndNotRows) {
  for (const int members : {1, kMembers}) {
    const Model scaled = curved(members);
    Dataset gaps = motion_data(2, {60}, 84, 0);
    for (std::size_t k = 20; k < 33; ++k)
      gaps.series[0].y[2 * k] = gaps.series[0].y[2 * k + 1] = std::nan("");
    Dataset rows = gaps;
    Series& series = rows.series[0];
    series.y.erase(series.y.begin() + 40, series.y.begin() + 66);
    series.t.erase(series.t.begin() + 20, series.t.begin() + 33);
    series.steps -= 13;
    const Estimates long_steps = scaled.smooth(rows, 1), empty = scaled.smooth(gaps, 1);
    const Estimates of_rows = scaled.filter(rows, 1), of_gaps = scaled.filter(gaps, 1);
    for (std::size_t k = 0; k < 47; ++k) {
      const std::size_t at = k < 20 ? k : k + 13;
      for (std::size_t n = 0; n < 16; ++n) {
        const double scale = std::abs(empty.series[0].covariance[at * 16 + n / 5 * 5]);
        ASSERT_NEAR(long_steps.series[0].covariance[k * 16 + n],
                    empty.series[0].covariance[at * 16 + n], 1e-3 * scale)
            << k;
        ASSERT_NEAR(of_rows.series[0].covariance[k * 16 + n],
                    of_gaps.series[0].covariance[at * 16 + n],
                    1e-3 * std::abs(of_gaps.series[0].covariance[at * 16 + n / 5 * 5]))
            << k;
      }
    }
    Dataset begun = gaps;
    begun.series[0].steps = 20;
    begun.series[0].y.resize(40);
    begun.series[0].t.resize(20);
    const Estimates ahead = scaled.forecast(begun, 13, 1);
    for (std::size_t h = 0; h < 13; ++h)
      for (std::size_t n = 0; n < 4; ++n) {
        const double in_gap = of_gaps.series[0].covariance[(20 + h) * 16 + 5 * n];
        ASSERT_NEAR(ahead.series[0].covariance[h * 16 + 5 * n], in_gap, 1e-3 * in_gap) << h;
      }
  }
}

TEST_F(CalibratedModel, InnovationsAndLikelihoodFollow) {
  for (const int members : {1, kMembers}) {
    const Model plain = model(false, members), scaled = model(true, members);
    const std::vector<Innovations> before = plain.innovations(data_, 1);
    const std::vector<Innovations> after = scaled.innovations(data_, 1);
    const std::vector<double> R = plain.noise();
    double likelihood = 0;
    for (std::size_t s = 0; s < after.size(); ++s)
      for (std::size_t k = 0; k * 2 < after[s].residual.size(); ++k) {
        double S[4];
        for (std::size_t i = 0; i < 4; ++i) {
          S[i] = 2.5 * (before[s].covariance[4 * k + i] - R[i]) + R[i];
          EXPECT_NEAR(after[s].covariance[4 * k + i], S[i], 1e-9 * (1 + std::abs(S[i])));
        }
        const double r0 = after[s].residual[2 * k], r1 = after[s].residual[2 * k + 1];
        const double log_2_pi = std::log(2 * std::numbers::pi);
        const auto single = [&](double r, double variance) {
          if (!std::isnan(r))
            likelihood -= 0.5 * (r * r / variance + std::log(variance) + log_2_pi);
        };
        if (std::isnan(r0) || std::isnan(r1)) {
          single(r0, S[0]);
          single(r1, S[3]);
          continue;
        }
        // The first channel, then the second given it.
        single(r0, S[0]);
        single(r1 - S[1] / S[0] * r0, S[3] - S[1] * S[1] / S[0]);
      }
    const SmoothOptions linearized{.method = "linearized"};
    for (const double found :
         {scaled.filter(data_, 1).log_likelihood, scaled.smooth(data_, 1).log_likelihood,
          scaled.analyse(data_, 1, linearized).smoothed.log_likelihood,
          scaled.forecast(data_, 2, 1).log_likelihood,
          scaled.sample(data_, 1, 1, 1).log_likelihood})
      EXPECT_NEAR(found, likelihood, 1e-9 * std::abs(likelihood)) << members;
  }
}

TEST_F(CalibratedModel, OfAnEnsembleTheSpreadIsScaledToo) {
  // Members with the same gains: their mixture is one filter with a wider prediction.
  const auto shifted = [](double by) {
    test::LearnedCase made = test::static_case(2);
    const heads::Architecture architecture = test::architecture_of(made.description);
    made.parameters[static_cast<std::size_t>(architecture.initial_e)] += by;
    return made.make<float>();
  };
  const auto of = [&](bool calibrated) {
    std::optional<model::Calibration> calibration;
    if (calibrated) calibration = {3, 1, 1};
    return test::model_of(std::vector<test::Member>{shifted(-60), shifted(60)}, calibration);
  };
  const Model single = test::model_of(shifted(0));
  const Estimates one = single.filter(data_, 1), mixed = of(false).filter(data_, 1);
  const Estimates found = of(true).filter(data_, 1);
  const Estimates scaled = [&] {
    const Model calibrated = test::model_of(shifted(0), model::Calibration{3, 1, 1});
    return calibrated.filter(data_, 1);
  }();
  double largest = 0;
  for (std::size_t s = 0; s < found.series.size(); ++s)
    for (std::size_t i = 0; i < found.series[s].covariance.size(); ++i) {
      const double spread = mixed.series[s].covariance[i] - one.series[s].covariance[i];
      largest = std::max(largest, spread);
      EXPECT_NEAR(found.series[s].covariance[i], scaled.series[s].covariance[i] + 3 * spread,
                  1e-7 * (1 + std::abs(found.series[s].covariance[i])));
    }
  EXPECT_GT(largest, 10);
}

TEST_F(CalibratedModel, SamplesHaveTheCalibratedCovariance) {
  const Dataset data = motion_data(2, {6}, 83);
  constexpr int kCount = 6000;
  for (const int members : {1, kMembers}) {
    const Model scaled = model(true, members);
    const Estimates smoothed = scaled.smooth(data, 1, {.method = "linearized"});
    const Estimates samples = scaled.sample(data, kCount, 3, 2);
    const int N = scaled.state_dim();
    for (int k = 0; k < 6; ++k)
      for (int n = 0; n < N; ++n) {
        const auto at = static_cast<std::size_t>(k * N + n);
        const double variance =
            smoothed.series[0]
                .covariance[at * static_cast<std::size_t>(N) + static_cast<std::size_t>(n)];
        double sum = 0, squares = 0;
        for (const StateEstimates& each : samples.series) {
          const double d = each.mean[at] - smoothed.series[0].mean[at];
          sum += d;
          squares += d * d;
        }
        // Five standard errors; a mixture's fourth moment is below the normal one's here.
        EXPECT_NEAR(sum / kCount, 0, 5 * std::sqrt(variance / kCount)) << k << " " << n;
        EXPECT_NEAR(squares / kCount / variance, 1, 5 * std::sqrt(2.0 / kCount)) << k << " " << n;
      }
  }
}

}  // namespace
}  // namespace kalmia
