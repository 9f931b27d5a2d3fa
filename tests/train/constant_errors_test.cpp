#include "train/constant_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// Independent values about a mean of 3.
std::vector<double> values(int steps) {
  RandomStream random(41, "values");
  std::vector<double> y;
  for (int k = 0; k < steps; ++k) y.push_back(3 + 0.5 * random.normal());
  return y;
}

// Fits the state that is `mean` in every step to them.
StaticResult fitted(const std::string& mean, const std::vector<Parameter>& parameters,
                    const model::NoiseSpec& noise = {model::NoiseSpec::Kind::Given, {0.01}},
                    double tails = 0) {
  System system;
  system.states = {"x"};
  system.parameters = parameters;
  system.next = {{"x", mean}};
  system.measure = {{"y", "x"}};
  system.initial = {{"x", 3, 0.5}};
  Case c(dataset_of({values(2000)}), test::equations(system));
  c.description.tails = tails;
  ThreadTeam team(1);
  return fit_static(c.description, c.channels, noise, c.scaled, c.everything(), team);
}

double spread() {
  const std::vector<double> y = values(2000);
  double mean = 0, square = 0;
  for (const double each : y) mean += each / 2000;
  for (const double each : y) square += (each - mean) * (each - mean) / 2000;
  return std::sqrt(square);
}

// That of a mean, whatever the parameter's variable.
TEST(ConstantErrors, StandardErrorOfAMean) {
  for (const Parameter& p :
       {Parameter{"m", 2, true}, Parameter{"m", 2, true, 0}, Parameter{"m", 2, true, 1, 40}}) {
    const StaticResult result = fitted("m", {p});
    ASSERT_EQ(result.constants.size(), 1u);
    const ConstantError& error = result.constants[0];
    EXPECT_TRUE(error.identifiable);
    EXPECT_FALSE(error.at_bound);
    EXPECT_NEAR(error.standard_error, spread() / std::sqrt(2000.0), 1e-3 * spread());
  }
  // Of its square root by the delta method.
  const StaticResult root = fitted("r*r", {{"r", 2, true, 0}});
  EXPECT_NEAR(root.constants.at(0).standard_error,
              spread() / std::sqrt(2000.0) / (2 * std::sqrt(3.0)), 1e-3 * spread());
  // The noise that is learned as well, or Student's t, makes it hardly larger.
  const StaticResult learned = fitted("m", {{"m", 2, true}}, {});
  EXPECT_NEAR(learned.constants.at(0).standard_error, spread() / std::sqrt(2000.0),
              1e-3 * spread());
  const StaticResult robust =
      fitted("m", {{"m", 2, true}}, {model::NoiseSpec::Kind::Given, {0.01}}, 8);
  EXPECT_NEAR(robust.constants.at(0).standard_error, spread() / std::sqrt(2000.0),
              0.2 * spread() / std::sqrt(2000.0));
}

TEST(ConstantErrors, WhatIsToldOnlyTogetherIsNotIdentifiable) {
  const StaticResult result = fitted(
      "a*b + c*(x - 3)", {{"a", 2, true, 0}, {"known", 1}, {"b", 2, true, 0}, {"c", 0.1, true}});
  ASSERT_EQ(result.constants.size(), 3u);
  const ConstantError &a = result.constants[0], &b = result.constants[1], &c = result.constants[2];
  EXPECT_FALSE(a.identifiable);
  EXPECT_FALSE(b.identifiable);
  EXPECT_TRUE(std::isnan(a.standard_error));
  EXPECT_EQ(a.together, (std::vector<std::size_t>{2}));
  EXPECT_EQ(b.together, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(c.identifiable);
  EXPECT_NEAR(c.standard_error, 1 / std::sqrt(2000.0), 0.003);
}

TEST(ConstantErrors, WhatTheDataWantBeyondABoundIsAtIt) {
  const StaticResult other = fitted("2.5 - d", {{"d", 0.5, true, 0}});
  EXPECT_TRUE(other.constants.at(0).at_bound);
  EXPECT_TRUE(std::isnan(other.constants.at(0).standard_error));
}

}  // namespace
}  // namespace kalmia::train
