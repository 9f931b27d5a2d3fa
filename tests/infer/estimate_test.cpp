#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/model.hpp"

namespace kalmia {
namespace {

using test::alone;
using test::classical_model;
using test::expect_close;
using test::expect_same_bits;
using test::motion_data;
using test::PaddedData;
using test::public_model;
using test::rows;
using test::sum_of;

const std::vector<int> kLengths = {65, 0, 300, 1, 2};

void expect_equal(const Estimates& found, const FilterResult& result, const Moments& moments,
                  double tolerance) {
  const int N = result.state_dim;
  for (std::size_t s = 0; s < found.series.size(); ++s) {
    const StateEstimates& series = found.series[s];
    const std::string what = "series " + std::to_string(s);
    expect_close(series.mean, rows(result, moments.mean, s, 0, series.steps, N), tolerance, what);
    expect_close(series.covariance, rows(result, moments.covariance, s, 0, series.steps, N * N),
                 tolerance, what);
  }
}

TEST(Estimate, AStaticModelsFilterIsTheKalmanFilterInTheUsersUnits) {
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kLengths, 81);
    const PaddedData padded(data);
    const Estimates found = public_model(test::static_case(channels)).filter(data, 1);
    const FilterResult expected = kalman_filter(classical_model(channels), padded.view);
    expect_equal(found, expected, expected.filtered, 1e-9);
    const double likelihood = sum_of(expected.log_likelihood);
    EXPECT_NEAR(found.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
  }
}

TEST(Estimate, AStaticModelsSmootherIsTheRauchTungStriebelSmoother) {
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kLengths, 82);
    const PaddedData padded(data);
    const Estimates found = public_model(test::static_case(channels)).smooth(data, 1);
    const FilterResult expected = rts_smoother(classical_model(channels), padded.view);
    expect_equal(found, expected, expected.smoothed, 1e-9);
    const double likelihood = sum_of(expected.log_likelihood);
    EXPECT_NEAR(found.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
  }
}

TEST(Estimate, InnovationsAreThoseOfTheKalmanFilter) {
  const Dataset data = motion_data(2, kLengths, 83);
  const PaddedData padded(data);
  const std::vector<Innovations> found = public_model(test::static_case(2)).innovations(data, 1);
  const FilterResult expected = kalman_filter(classical_model(2), padded.view);
  const reference::DenseSystem system = test::static_system(test::motion_description(2));
  ASSERT_EQ(found.size(), kLengths.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    const std::span<const double> residual =
        rows(expected, expected.innovations, s, 0, kLengths[s], 2);
    ASSERT_EQ(found[s].residual.size(), residual.size());
    for (std::size_t i = 0; i < residual.size(); ++i) {
      ASSERT_EQ(std::isnan(found[s].residual[i]), std::isnan(data.series[s].y[i]));
      if (std::isnan(residual[i])) continue;
      ASSERT_NEAR(found[s].residual[i], residual[i], 1e-8);
    }
    for (int k = 0; k < kLengths[s]; ++k) {
      using RowMatrix = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
      const Eigen::Map<const RowMatrix> P(
          rows(expected, expected.predicted.covariance, s, k, 1, 16).data());
      const test::Matrix S = system.H * P * system.H.transpose() + system.R;
      expect_close({found[s].covariance.data() + 4 * k, 4}, {S.data(), 4}, 1e-9,
                   "step " + std::to_string(k));
    }
  }
}

TEST(Estimate, OneAnalysisGivesWhatThreeRunsGive) {
  const Model model = public_model(test::static_case(2));
  const Dataset data = motion_data(2, kLengths, 3, 0.2);
  const Analysis analysis = model.analyse(data, 2);
  const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 1);
  const std::vector<Innovations> innovations = model.innovations(data, 1);
  EXPECT_EQ(analysis.filtered.log_likelihood, filtered.log_likelihood);
  EXPECT_EQ(analysis.smoothed.log_likelihood, smoothed.log_likelihood);
  ASSERT_EQ(analysis.innovations.size(), kLengths.size());
  for (std::size_t s = 0; s < kLengths.size(); ++s) {
    EXPECT_EQ(analysis.filtered.series[s].mean, filtered.series[s].mean);
    EXPECT_EQ(analysis.filtered.series[s].covariance, filtered.series[s].covariance);
    EXPECT_EQ(analysis.smoothed.series[s].mean, smoothed.series[s].mean);
    EXPECT_EQ(analysis.smoothed.series[s].covariance, smoothed.series[s].covariance);
    EXPECT_EQ(analysis.innovations[s].covariance, innovations[s].covariance);
    ASSERT_EQ(analysis.innovations[s].residual.size(), innovations[s].residual.size());
    for (std::size_t i = 0; i < innovations[s].residual.size(); ++i)
      EXPECT_TRUE(analysis.innovations[s].residual[i] == innovations[s].residual[i] ||
                  (std::isnan(analysis.innovations[s].residual[i]) &&
                   std::isnan(innovations[s].residual[i])));
  }
}

TEST(Estimate, KeysTimesAndNamesAreCarriedOver) {
  const Dataset data = motion_data(2, kLengths, 84);
  const Model model = public_model(test::static_case(2));
  std::size_t measured = 0;
  for (const Series& series : data.series)
    for (const double value : series.y) measured += std::isnan(value) ? 0 : 1;
  for (const Estimates& found : {model.filter(data, 1), model.smooth(data, 1)}) {
    EXPECT_EQ(found.key_name, "robot");
    EXPECT_EQ(found.time_name, "t");
    EXPECT_EQ(found.time_kind, TimeKind::Number);
    EXPECT_EQ(found.state_names,
              (std::vector<std::string>{"north", "north_rate", "east", "east_rate"}));
    EXPECT_EQ(found.measured_values, measured);
    ASSERT_EQ(found.series.size(), data.series.size());
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      EXPECT_EQ(found.series[s].key, data.series[s].key);
      EXPECT_EQ(found.series[s].steps, data.series[s].steps);
      EXPECT_EQ(found.series[s].t, data.series[s].t);
    }
  }
  EXPECT_TRUE(model.filter(motion_data(2, {}, 85), 1).series.empty());
}

TEST(Estimate, SeriesDoNotDependOnTheirCompanyNorOnThreads) {
  const Model model = public_model(test::network_case(2, 86));
  std::vector<int> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back((i * 53) % 140);
  const Dataset data = motion_data(2, lengths, 87);
  const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 1);
  const Estimates ahead = model.forecast(data, 5, 1), samples = model.sample(data, 2, 3, 1);
  const std::vector<Innovations> innovations = model.innovations(data, 1);
  expect_same_bits(filtered, model.filter(data, 2));
  expect_same_bits(smoothed, model.smooth(data, 2));
  expect_same_bits(ahead, model.forecast(data, 5, 2));
  expect_same_bits(samples, model.sample(data, 2, 3, 2));
  const std::vector<Innovations> again = model.innovations(data, 2);
  for (std::size_t s = 0; s < lengths.size(); ++s)
    EXPECT_TRUE(test::same_bits(innovations[s].covariance, again[s].covariance));
  for (std::size_t s = 0; s < lengths.size(); s += 7) {
    const Dataset one = alone(data, s);
    const auto same = [&](const Estimates& all, const Estimates& single) {
      EXPECT_TRUE(test::same_bits(all.series[s].mean, single.series[0].mean)) << s;
      EXPECT_TRUE(test::same_bits(all.series[s].covariance, single.series[0].covariance)) << s;
    };
    same(filtered, model.filter(one, 1));
    same(smoothed, model.smooth(one, 1));
    same(ahead, model.forecast(one, 5, 1));
  }
}

}  // namespace
}  // namespace kalmia
