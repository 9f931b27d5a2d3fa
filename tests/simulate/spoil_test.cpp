#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kalmia/simulate.hpp"

namespace kalmia {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two channels, a ramp and a constant 5, without truth; every tenth value of the ramp is missing.
Dataset plain(std::size_t steps, int series = 2) {
  Dataset data;
  data.y_names = {"level", "flow"};
  for (int s = 0; s < series; ++s) {
    Series one;
    one.steps = static_cast<int>(steps);
    for (std::size_t k = 0; k < steps; ++k) {
      one.y.push_back(k % 10 == 3 ? kNan : static_cast<double>(k));
      one.y.push_back(5);
    }
    data.series.push_back(one);
  }
  return data;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(Spoil, TheMeasurementsAsTheyWereBecomeTheTruth) {
  Dataset data = plain(100);
  const Dataset before = data;
  SpoilOptions options;
  options.add_noise = 1;
  options.missing = 0.5;
  spoil(data, options, 1);
  EXPECT_EQ(data.x_names, (std::vector<std::string>{"true_level", "true_flow"}));
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < 200; ++i)
      ASSERT_TRUE(same(data.series[s].x[i], before.series[s].y[i])) << i;
}

TEST(Spoil, TruthThatIsThereStays) {
  SimulateOptions options;
  options.steps = 50;
  Dataset data = simulate("pendulum", options);
  const Dataset before = data;
  SpoilOptions spoiling;
  spoiling.add_noise = 1;
  spoil(data, spoiling, 1);
  EXPECT_EQ(data.x_names, before.x_names);
  EXPECT_EQ(data.series[0].x, before.series[0].x);
  EXPECT_NE(data.series[0].y, before.series[0].y);
}

TEST(Spoil, NoOptionsNoChange) {
  Dataset data = plain(50);
  const Dataset before = data;
  spoil(data, {}, 1);
  for (std::size_t i = 0; i < 100; ++i)
    ASSERT_TRUE(same(data.series[0].y[i], before.series[0].y[i])) << i;
}

TEST(Spoil, AddsNoiseOfTheAskedLevelToWhatIsMeasured) {
  Dataset data = plain(20000);
  SpoilOptions options;
  options.add_noise = 0.7;
  spoil(data, options, 4);
  for (std::size_t m = 0; m < 2; ++m) {
    double square = 0, count = 0;
    for (const Series& series : data.series)
      for (std::size_t i = m; i < series.y.size(); i += 2) {
        ASSERT_EQ(std::isnan(series.y[i]), std::isnan(series.x[i]));
        if (std::isnan(series.y[i])) continue;
        square += std::pow(series.y[i] - series.x[i], 2);
        count += 1;
      }
    EXPECT_NEAR(std::sqrt(square / count), 0.7, 0.01) << m;
  }
  EXPECT_NE(data.series[0].y[1], data.series[1].y[1]);
}

// The share counts the values that were measured.
TEST(Spoil, TheShareOfMissingValuesIsRight) {
  for (const double run : {1.0, 20.0}) {
    Dataset data = plain(5000);
    SpoilOptions options;
    options.missing = 0.3;
    options.missing_run = run;
    spoil(data, options, 5);
    for (const Series& series : data.series)
      for (std::size_t m = 0; m < 2; ++m) {
        double measured = 0, lost = 0, runs = 0;
        bool inside = false;
        for (std::size_t i = m; i < series.y.size(); i += 2) {
          if (std::isnan(series.x[i])) continue;
          measured += 1;
          const bool gone = std::isnan(series.y[i]);
          lost += gone ? 1 : 0;
          runs += gone && !inside ? 1 : 0;
          inside = gone;
        }
        EXPECT_NEAR(lost, 0.3 * measured, 1);
        EXPECT_NEAR(lost / runs, run == 1 ? 1 / 0.7 : run, run == 1 ? 0.1 : 1.5);
      }
    // Channels and series lose different values.
    int both = 0, either = 0;
    for (std::size_t k = 0; k < 5000; ++k) {
      const bool a = std::isnan(data.series[0].y[2 * k + 1]);
      const bool b = std::isnan(data.series[1].y[2 * k + 1]);
      both += a && b ? 1 : 0;
      either += a || b ? 1 : 0;
    }
    EXPECT_LT(both, either / 2);
  }
}

// Outliers are errors of `outlier_size` channel deviations; the constant channel has none to scale
// by.
TEST(Spoil, OutliersHaveTheirShareAndSize) {
  Dataset data = plain(20000, 1);
  SpoilOptions options;
  options.outliers = 0.05;
  options.outlier_size = 4;
  spoil(data, options, 6);
  double changed = 0, square = 0, measured = 0;
  for (std::size_t k = 0; k < 20000; ++k) {
    EXPECT_EQ(data.series[0].y[2 * k + 1], 5);
    if (std::isnan(data.series[0].x[2 * k])) continue;
    measured += 1;
    const double error = data.series[0].y[2 * k] - data.series[0].x[2 * k];
    changed += error != 0 ? 1 : 0;
    square += error * error;
  }
  EXPECT_NEAR(changed, 0.05 * measured, 1);
  const double deviation = 20000 / std::sqrt(12.0);
  EXPECT_NEAR(std::sqrt(square / changed), 4 * deviation, 0.4 * deviation);
}

TEST(Spoil, OptionsDoNotMoveEachOthersNumbers) {
  SpoilOptions noise, both;
  noise.add_noise = both.add_noise = 1;
  both.missing = 0.4;
  both.outliers = 0.1;
  Dataset a = plain(200), b = plain(200), other = plain(200);
  spoil(a, noise, 7);
  spoil(b, both, 7);
  spoil(other, noise, 8);
  for (std::size_t i = 1; i < 400; i += 2) {
    if (!std::isnan(b.series[0].y[i])) {
      EXPECT_EQ(a.series[0].y[i], b.series[0].y[i]) << i;
    }
    EXPECT_NE(a.series[0].y[i], other.series[0].y[i]);
  }
}

TEST(Spoil, NamesEveryOptionThatIsWrong) {
  Dataset data = plain(10);
  SpoilOptions options;
  options.add_noise = -1;
  options.missing = 1;
  options.missing_run = 0.5;
  options.outliers = 1.5;
  options.outlier_size = -2;
  try {
    spoil(data, options, 1);
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    for (const char* part : {"add_noise = -1", "missing = 1", "missing_run = 0.5", "outliers = 1.5",
                             "outlier_size = -2"})
      EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  EXPECT_TRUE(data.x_names.empty());
}

}  // namespace
}  // namespace kalmia
