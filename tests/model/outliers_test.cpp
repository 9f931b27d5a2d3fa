#include "model/outliers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "model/channels.hpp"

namespace kalmia::model {
namespace {

const double kGap = std::nan("");

// A swing of amplitude 20 in noise of deviation 0.5 beside one ten times as large.
Dataset swings() {
  RandomStream random(4, "swings");
  Dataset data;
  data.y_names = {"a", "b"};
  for (int s = 0; s < 2; ++s) {
    Series& series = data.series.emplace_back();
    series.steps = 3000;
    for (int k = 0; k < series.steps; ++k) {
      const double angle = 2 * std::numbers::pi * k / 60;
      series.y.push_back(20 * std::sin(angle) + 0.5 * random.normal());
      series.y.push_back(200 * std::cos(angle) + 5 * random.normal());
    }
  }
  return data;
}

TEST(Outliers, StatisticsAreThoseOfTheRest) {
  const std::vector<ChannelStatistics> right = channel_statistics(swings());
  for (const double size : {30.0, 1e5}) {
    Dataset data = swings();
    RandomStream random(8, "outliers");
    for (Series& series : data.series)
      for (std::size_t i = 0; i < series.y.size(); ++i)
        if (random.uniform() < 0.05) series.y[i] += (i % 2 == 0 ? 1 : 10) * size * random.normal();
    const std::vector<ChannelStatistics> found = channel_statistics(without_outliers(data));
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_NEAR(found[c].spread, right[c].spread, 0.05 * right[c].spread);
      EXPECT_NEAR(found[c].step, right[c].step, 0.2 * right[c].step);
      EXPECT_NEAR(found[c].rate, right[c].rate, 0.1 * right[c].rate);
      EXPECT_EQ(found[c].measured, right[c].measured);
    }
    EXPECT_GT(channel_statistics(data)[0].step, 5 * right[0].step);
  }
}

// Outliers in the first and the last step, and next to each other, among missing values.
TEST(Outliers, AtTheEndsAndInPairs) {
  std::vector<double> y;
  for (int k = 0; k < 60; ++k) y.push_back(k % 2 == 0 ? 1 : 2);
  const std::vector<double> clean = y;
  y[0] = 900;
  y[20] = y[21] = -700;
  y[40] = 500;
  y[39] = y[42] = kGap;
  y[59] = -1e9;
  std::vector<std::vector<double>> series = {y};
  replace_outliers(0, 1, series);
  for (std::size_t k = 0; k < y.size(); ++k) {
    if (std::isnan(y[k])) {
      EXPECT_TRUE(std::isnan(series[0][k])) << k;
    } else {
      EXPECT_NEAR(series[0][k], clean[k], 1) << k;
    }
  }
}

TEST(Outliers, OtherChannelsAndNoOutliersAreLeftAlone) {
  std::vector<std::vector<double>> series = {{}};
  for (int k = 0; k < 40; ++k) {
    series[0].push_back(std::sin(0.3 * k));
    series[0].push_back(k == 20 ? 1e6 : std::cos(0.3 * k));
  }
  const std::vector<std::vector<double>> before = series;
  replace_outliers(0, 2, series);
  EXPECT_EQ(series, before);
  replace_outliers(1, 2, series);
  EXPECT_NE(series, before);
}

// A switch: most values repeat the one before.
TEST(Outliers, RepeatedValuesHaveNone) {
  std::vector<std::vector<double>> series = {{}};
  for (int k = 0; k < 400; ++k) series[0].push_back(k / 100 % 2 == 0 ? 0 : 7);
  series[0][50] = 7;
  const std::vector<std::vector<double>> before = series;
  replace_outliers(0, 1, series);
  EXPECT_EQ(series, before);
}

// Rests and fast swings of eight steps in turn, in hardly any noise: what moves is far from the
// median of what mostly rests. Of spikes on top of that, those larger than the swing are found, also
// two in a row; the rule for scales takes every swing for outliers.
TEST(Outliers, IsolatedOnesAreNoMotion) {
  RandomStream random(3, "rests and swings");
  Dataset data;
  data.y_names = {"a"};
  Series& series = data.series.emplace_back();
  series.steps = 4000;
  for (int k = 0; k < series.steps; ++k)
    series.y.push_back((k / 200 % 5 == 4 ? 10 * std::sin(2 * std::numbers::pi * k / 8) : 0) +
                       0.1 * random.normal());
  const auto missing = [](const Dataset& of) {
    return std::ranges::count_if(of.series[0].y, [](double y) { return std::isnan(y); });
  };
  EXPECT_EQ(missing(isolated_outliers_missing(data)), 0);
  const Dataset scales = without_outliers(data);
  int moved = 0;
  for (std::size_t k = 0; k < series.y.size(); ++k) moved += scales.series[0].y[k] != series.y[k];
  EXPECT_GT(moved, 100);
  for (const std::size_t k : {100u, 500u, 501u, 1500u, 2100u}) series.y[k] += 50;
  series.y[900] -= 80;  // amid a swing
  const Dataset found = isolated_outliers_missing(data);
  EXPECT_EQ(missing(found), 6);
  for (const std::size_t k : {100u, 500u, 501u, 900u, 1500u, 2100u})
    EXPECT_TRUE(std::isnan(found.series[0].y[k])) << k;
}

}  // namespace
}  // namespace kalmia::model
