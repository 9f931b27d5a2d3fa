#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "train/variables.hpp"

namespace kalmia::train {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Parameter parameter(double value, double lower = -kInfinity, double upper = kInfinity) {
  return {"p", value, true, lower, upper};
}

const std::vector<Parameter> kAll = {parameter(3),        parameter(-0.01),
                                     parameter(0),        parameter(0.05, 0),
                                     parameter(7, -2),    parameter(-3, -kInfinity, 5),
                                     parameter(2, 1, 10), parameter(0, -1e-3, 4)};

TEST(BoundedVariable, StartsAtTheValue) {
  for (const Parameter& p : kAll) {
    const BoundedVariable variable(p);
    EXPECT_NEAR(variable.value(variable.start()), p.value, 1e-15 * (1 + std::abs(p.value)));
  }
}

// A search may begin elsewhere; a bound itself is as good as reached.
TEST(BoundedVariable, StartsWhereASearchBegins) {
  for (const Parameter& p : kAll)
    for (const double at : {0.25, 1.5, 3.75}) {
      if (at <= p.lower || at >= p.upper) continue;
      const BoundedVariable variable(p, at), usual(p);
      EXPECT_NEAR(variable.value(variable.start()), at, 1e-14);
      EXPECT_NEAR(usual.value(variable.start()), at, 1e-14);  // a unit is what it was
    }
  for (const double at : {0.0, 1.0}) {
    const BoundedVariable variable(parameter(0.5, 0, 1), at);
    EXPECT_TRUE(std::isfinite(variable.start()));
    EXPECT_NEAR(variable.value(variable.start()), at, 1e-12);
  }
}

TEST(BoundedVariable, WhatIsAtABound) {
  EXPECT_TRUE(is_near_bound(parameter(5, 0), 0.009));
  EXPECT_FALSE(is_near_bound(parameter(5, 0), 0.011));
  EXPECT_TRUE(is_near_bound(parameter(0.5, 0, 1), 0.9999));
  EXPECT_FALSE(is_near_bound(parameter(0.5, 0, 1), 0.99));
  EXPECT_TRUE(is_near_bound(parameter(-3, -kInfinity, 5), 4.999));
  EXPECT_FALSE(is_near_bound(parameter(3), 1e9));
}

TEST(BoundedVariable, ByHand) {
  EXPECT_EQ(BoundedVariable(parameter(-3)).value(2), 3);  // a unit is the size of the number
  EXPECT_EQ(BoundedVariable(parameter(0)).value(2), 2);
  EXPECT_NEAR(BoundedVariable(parameter(0.05, 0)).value(1), 0.05 * std::exp(1), 1e-16);
  EXPECT_NEAR(BoundedVariable(parameter(7, -2)).value(std::log(2)), 16, 1e-13);
  EXPECT_NEAR(BoundedVariable(parameter(-3, -kInfinity, 5)).value(std::log(2)), -11, 1e-13);
  EXPECT_NEAR(BoundedVariable(parameter(2, 1, 10)).value(0), 5.5, 1e-14);
}

TEST(BoundedVariable, NeverLeavesItsBounds) {
  for (const Parameter& p : kAll) {
    const BoundedVariable variable(p);
    for (const double v : {-800.0, -30.0, -1.0, 0.0, 1.0, 30.0, 800.0}) {
      const double value = variable.value(v);
      EXPECT_GE(value, p.lower);
      EXPECT_LE(value, p.upper);
      EXPECT_FALSE(std::isnan(value));
    }
  }
}

TEST(BoundedVariable, SlopeMatchesCentralDifferences) {
  for (const Parameter& p : kAll) {
    const BoundedVariable variable(p);
    for (const double v : {-3.0, -0.4, 0.0, 1.3}) {
      const double numeric = (variable.value(v + 1e-5) - variable.value(v - 1e-5)) / 2e-5;
      EXPECT_NEAR(variable.slope(v), numeric, 1e-8 * std::max(1.0, std::abs(numeric)));
    }
  }
}

}  // namespace
}  // namespace kalmia::train
