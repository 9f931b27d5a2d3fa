#include "train/noise_ceiling.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// In the user's units.
std::vector<double> ceiling_of(const Dataset& data, bool full = false, bool outliers = false) {
  const Case c(data, "constant-position");
  std::vector<double> ceiling = noise_ceiling(c.scaled, c.everything(), full, outliers).R;
  const std::vector<double>& unit = c.description.units.y_scale;
  for (std::size_t i = 0; i < unit.size(); ++i)
    for (std::size_t j = 0; j < unit.size(); ++j) ceiling[i * unit.size() + j] *= unit[i] * unit[j];
  return ceiling;
}

std::vector<double> sine(int steps, double deviation, double period = 12) {
  RandomStream random(4, "sine");
  std::vector<double> y;
  for (int k = 0; k < steps; ++k)
    y.push_back(20 * std::sin(2 * std::numbers::pi * k / period) + deviation * random.normal());
  return y;
}

TEST(NoiseCeiling, IsTheNoiseOfASmoothSignal) {
  EXPECT_NEAR(ceiling_of(dataset_of({sine(4000, 0.5)}))[0], 0.25, 0.04);
  EXPECT_NEAR(ceiling_of(dataset_of({sine(4000, 0.05)}))[0], 0.0025, 0.0005);
}

// Outliers that make up most of the noise's variance.
TEST(NoiseCeiling, WithoutOutliersIsThatOfTheRest) {
  std::vector<double> y = sine(4000, 0.5, 60);
  EXPECT_NEAR(ceiling_of(dataset_of({y}), false, true)[0], 0.25, 0.05);
  RandomStream random(8, "outliers");
  for (double& value : y)
    if (random.uniform() < 0.03) value += 15 * random.normal();
  EXPECT_GT(ceiling_of(dataset_of({y}))[0], 4);
  // Values that replace outliers have errors of their own. The floor of R, 0.75 of the ceiling,
  // must not be above R by more than a tenth.
  const double ceiling = ceiling_of(dataset_of({y}), false, true)[0];
  EXPECT_GT(ceiling, 0.25);
  EXPECT_LT(0.75 * ceiling, 1.1 * 0.25);
  // Among values that repeat nothing is an outlier.
  std::vector<double> steps;
  for (int k = 0; k < 4000; ++k) steps.push_back(k / 100 % 2);
  EXPECT_EQ(ceiling_of(dataset_of({steps}), false, true), ceiling_of(dataset_of({steps})));
}

TEST(NoiseCeiling, IsAboveTheNoiseOfARoughOne) {
  const double ceiling = ceiling_of(dataset_of({local_level(20000, 1, 0.5, 7)}))[0];
  EXPECT_NEAR(ceiling, 0.5 + 0.25, 0.05);
}

TEST(NoiseCeiling, NeighboursAreOfOneSeriesAndMeasured) {
  // Jumps between series and across gaps are no differences.
  std::vector<std::vector<double>> series;
  const std::vector<double> y = sine(6000, 0.5);
  for (std::size_t from = 0; from < 6000; from += 60) {
    std::vector<double>& part =
        series.emplace_back(y.begin() + static_cast<std::ptrdiff_t>(from),
                            y.begin() + static_cast<std::ptrdiff_t>(from + 60));
    part[30] = kMissing;
    for (double& value : part) value += 1e3 * static_cast<double>(from % 7);
    for (std::size_t k = 31; k < 60; ++k) part[k] += 500;
  }
  EXPECT_NEAR(ceiling_of(dataset_of(series))[0], 0.25, 0.04);
}

// A signal whose power is at the highest frequencies leaves the lower ones free.
TEST(NoiseCeiling, LooksAtAllFrequencies) {
  std::vector<double> y = sine(4000, 0.5);
  for (std::size_t k = 1; k < y.size(); k += 2) y[k] = -y[k];
  RandomStream random(6, "noise");
  for (double& value : y) value += 0.5 * random.normal();
  EXPECT_NEAR(ceiling_of(dataset_of({y}))[0], 0.5, 0.08);
}

TEST(NoiseCeiling, TrendsDoNotReachIt) {
  std::vector<double> y = sine(4000, 0.5);
  for (std::size_t k = 0; k < y.size(); ++k) y[k] += 2 * static_cast<double>(k);
  EXPECT_NEAR(ceiling_of(dataset_of({y}))[0], 0.25, 0.05);
}

TEST(NoiseCeiling, IsFirmFromEnoughData) {
  const auto firm = [](int steps) {
    const Case c(dataset_of({sine(steps, 0.5)}), "constant-position");
    return noise_ceiling(c.scaled, c.everything(), false).firm;
  };
  EXPECT_FALSE(firm(100));
  EXPECT_FALSE(firm(800));
  EXPECT_TRUE(firm(1200));
}

TEST(NoiseCeiling, TooFewNeighbours) {
  EXPECT_EQ(ceiling_of(dataset_of({sine(20, 0.5)}))[0], 0);
  std::vector<double> y = sine(1000, 0.5);
  for (std::size_t k = 0; k < y.size(); k += 2) y[k] = kMissing;
  EXPECT_EQ(ceiling_of(dataset_of({y}))[0], 0);
}

TEST(NoiseCeiling, Covariances) {
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = 5000;
  RandomStream random(9, "pairs");
  for (int k = 0; k < 5000; ++k) {
    const double shared = random.normal();
    series.y.push_back(std::sin(0.1 * k) + shared);
    series.y.push_back(1000 * (std::cos(0.07 * k) + 0.8 * shared + 0.6 * random.normal()));
  }
  const std::vector<double> full = ceiling_of(data, true);
  EXPECT_NEAR(full[0], 1, 0.1);
  EXPECT_NEAR(full[1], 800, 80);
  EXPECT_EQ(full[1], full[2]);
  EXPECT_NEAR(full[3], 1e6, 1e5);
  const std::vector<double> diagonal = ceiling_of(data);
  EXPECT_NEAR(diagonal[0], 1, 0.1);
  EXPECT_EQ(diagonal[1], 0);
  EXPECT_EQ(diagonal[2], 0);
}

}  // namespace
}  // namespace kalmia::train
