#include "model/channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

const double kMissing = std::nan("");

Dataset of(const std::vector<std::vector<double>>& series) {
  Dataset data;
  data.y_names = {"pressure"};
  for (const std::vector<double>& y : series) {
    Series one;
    one.steps = static_cast<int>(y.size());
    one.y = y;
    data.series.push_back(one);
  }
  return data;
}

std::vector<double> values(int count, const std::function<double(int)>& at) {
  std::vector<double> y;
  for (int k = 0; k < count; ++k) y.push_back(at(k));
  return y;
}

std::vector<double> white(int count, double deviation, std::uint64_t seed) {
  RandomStream random(seed, "white");
  return values(count, [&](int) { return deviation * random.normal(); });
}

std::vector<double> walk(int count, double step, std::uint64_t seed) {
  RandomStream random(seed, "walk");
  double level = 0;
  return values(count, [&](int) { return level += step * random.normal(); });
}

ChannelStatistics only(const Dataset& data) { return channel_statistics(data).at(0); }

TEST(ChannelStatistics, MeanSpreadAndStepByHand) {
  const ChannelStatistics s = only(of({{1, 2, 4, 1}}));
  EXPECT_EQ(s.measured, 4u);
  EXPECT_DOUBLE_EQ(s.mean, 2);
  EXPECT_DOUBLE_EQ(s.spread, std::sqrt(6.0 / 4));
  // Differences 1, 2, -3; there are too few second ones.
  EXPECT_DOUBLE_EQ(s.step, std::sqrt(14.0 / 6));
}

TEST(ChannelStatistics, MissingValuesAreSkipped) {
  const ChannelStatistics s = only(of({{kMissing, 1, 2, kMissing, 4, 1, kMissing}, {kMissing}}));
  EXPECT_EQ(s.measured, 4u);
  EXPECT_DOUBLE_EQ(s.mean, 2);
  EXPECT_DOUBLE_EQ(s.spread, std::sqrt(6.0 / 4));
}

TEST(ChannelStatistics, DifferencesDoNotReachIntoTheNextSeries) {
  RandomStream random(4, "levels");
  std::vector<std::vector<double>> series;
  for (int i = 0; i < 50; ++i) {
    const double level = 1000 * random.normal();
    series.push_back(values(4, [&](int) { return level + random.normal(); }));
  }
  EXPECT_NEAR(only(of(series)).step, 1, 0.2);
}

TEST(ChannelStatistics, ColumnsAreToldApart) {
  Dataset data = of({{1, 100, 2, 300, 3, 200, 5, 400}});
  data.y_names = {"a", "b"};
  data.series[0].steps = 4;
  const std::vector<ChannelStatistics> s = channel_statistics(data);
  EXPECT_DOUBLE_EQ(s[0].mean, 2.75);
  EXPECT_DOUBLE_EQ(s[1].mean, 250);
}

TEST(ChannelStatistics, TheStepOfWhiteNoiseIsItsDeviation) {
  EXPECT_NEAR(only(of({white(20000, 3, 5)})).step, 3, 0.1);
}

// Second differences see the noise where first ones see the motion.
TEST(ChannelStatistics, TheStepOfAFastMotionIsItsNoise) {
  RandomStream random(6, "noise");
  std::vector<double> ramp = values(4000, [&](int k) { return 5 * k + 0.1 * random.normal(); });
  EXPECT_NEAR(only(of({ramp})).step, 0.1, 0.01);
  // Gaps of one step must not hide that.
  for (std::size_t k = 5; k < ramp.size(); k += 10) ramp[k] = kMissing;
  EXPECT_NEAR(only(of({ramp})).step, 0.1, 0.01);
}

// A slow sensor among fast ones: never measured at two steps in a row.
TEST(ChannelStatistics, AChannelMeasuredEveryFifthStepHasAStep) {
  const std::vector<double> noise = white(1000, 2, 7);
  std::vector<double> sparse;
  for (const double value : noise) {
    sparse.push_back(value);
    sparse.insert(sparse.end(), 4, kMissing);
  }
  EXPECT_NEAR(only(of({sparse})).step, 2, 0.2);
}

TEST(ChannelStatistics, AStepIsNeverZero) {
  // A straight line has no second differences, but its values do differ.
  const ChannelStatistics line = only(of({values(100, [](int k) { return 2.0 * k; })}));
  EXPECT_GT(line.step, 1e-4 * line.spread);
  // Every series has one value.
  const ChannelStatistics points = only(of({{1}, {3}}));
  EXPECT_DOUBLE_EQ(points.spread, 1);
  EXPECT_GT(points.step, 0);
}

TEST(ChannelStatistics, AHugeOffsetDoesNotDestroyTheSpread) {
  std::vector<double> y = white(5000, 0.5, 8);
  const ChannelStatistics plain = only(of({y}));
  for (double& value : y) value += 1e9;
  const ChannelStatistics shifted = only(of({y}));
  EXPECT_NEAR(shifted.spread, plain.spread, 1e-6);
  EXPECT_NEAR(shifted.step, plain.step, 1e-6);
  EXPECT_NEAR(shifted.mean - 1e9, plain.mean, 1e-5);
  EXPECT_FALSE(shifted.wanders);
}

TEST(ChannelStatistics, ARandomWalkWanders) {
  for (const std::uint64_t seed : {11u, 12u, 13u, 14u, 15u})
    EXPECT_TRUE(only(of({walk(2000, 1, seed)})).wanders) << seed;
}

TEST(ChannelStatistics, NoiseAndOscillationsDoNotWander) {
  for (const int count : {40, 400, 4000}) {
    EXPECT_FALSE(only(of({white(count, 1, 16)})).wanders) << count;
    EXPECT_FALSE(
        only(of({values(count,
                        [&](int k) { return std::sin(2 * std::numbers::pi * 10 * k / count); })}))
            .wanders)
        << count;
  }
}

// Parts of a few values have less of the variance within than there is.
TEST(ChannelStatistics, ManyShortSeriesOfNoiseDoNotWander) {
  for (const int steps : {4, 8, 16, 20}) {
    std::vector<std::vector<double>> series;
    for (std::uint64_t i = 0; i < 200; ++i) series.push_back(white(steps, 1, 100 + i));
    EXPECT_FALSE(only(of(series)).wanders) << steps;
  }
}

TEST(ChannelStatistics, NoiseWithManyValuesMissingDoesNotWander) {
  std::vector<std::vector<double>> series;
  RandomStream random(17, "missing");
  for (std::uint64_t i = 0; i < 100; ++i) {
    series.push_back(white(32, 1, 500 + i));
    for (double& value : series.back())
      if (random.uniform() < 0.6) value = kMissing;
  }
  EXPECT_FALSE(only(of(series)).wanders);
}

TEST(ChannelStatistics, ManyShortSeriesOfDifferentLevelWander) {
  std::vector<std::vector<double>> series;
  for (std::uint64_t i = 0; i < 50; ++i) {
    series.push_back(white(8, 1, 300 + i));
    for (double& value : series.back()) value += 10.0 * static_cast<double>(i);
  }
  EXPECT_TRUE(only(of(series)).wanders);
}

TEST(ChannelStatistics, WhatCannotBeLearnedFromIsRefusedByName) {
  Dataset constant = of({{2.5, kMissing, 2.5}, {2.5}});
  constant.source = "flat.csv";
  EXPECT_EQ(message_of<DataError>([&] { channel_statistics(constant); }),
            "flat.csv: column pressure: all 3 values are 2.5, so there is nothing to learn; leave "
            "the column out");
  EXPECT_EQ(message_of<DataError>([&] {
              channel_statistics(of({{kMissing, kMissing}}));
            }),
            "column pressure: all values are missing; leave the column out");
  EXPECT_EQ(message_of<DataError>([&] { channel_statistics(of({})); }),
            "column pressure: all values are missing; leave the column out");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of<DataError>([&] {
              channel_statistics(of({{1, 2}, {3, -infinity}}));
            }),
            "column pressure, step 2: the value is infinite; leave it empty to mark it as missing");
}

TEST(ChannelStatistics, NumbersWhoseSquaresAreNoneAreRefused) {
  const std::string large = message_of<DataError>([] {
    channel_statistics(of({{1e200, -1e200, 3}}));
  });
  EXPECT_NE(large.find("column pressure: the values, from -1e+200 to 1e+200, are too"),
            std::string::npos)
      << large;
  EXPECT_THROW(channel_statistics(of({{1e-200, -1e-200, 0}})), DataError);
}

TEST(ChannelCorrelation, IsOfTheStepsWhereBothAreMeasured) {
  Dataset data;
  data.y_names = {"a", "b", "c"};
  Series& series = data.series.emplace_back();
  const std::vector<double> a = white(2000, 3, 7), c = white(2000, 1, 8);
  series.steps = 2000;
  for (std::size_t k = 0; k < 2000; ++k)
    series.y.insert(series.y.end(), {k % 3 == 0 ? kMissing : a[k], 5 - 2 * a[k], c[k]});
  const std::vector<double> found = channel_correlation(data, channel_statistics(data));
  ASSERT_EQ(found.size(), 9u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[4 * i], 1, 1e-12);
  EXPECT_NEAR(found[1], -1, 1e-3);
  EXPECT_EQ(found[1], found[3]);
  EXPECT_NEAR(found[2], 0, 4 / std::sqrt(2000 * 2 / 3.0));
  EXPECT_EQ(found[5], found[7]);
}

TEST(ChannelCorrelation, NeverMeasuredTogetherIsNone) {
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = 4;
  series.y = {1, kMissing, kMissing, 2, 3, kMissing, kMissing, 5};
  EXPECT_EQ(channel_correlation(data, channel_statistics(data))[1], 0);
}

}  // namespace
}  // namespace kalmia::model
