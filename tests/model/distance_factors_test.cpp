#include "model/distance_factors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kalmia::model {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

DistanceFactors two_channels() {
  DistanceFactors factors;
  factors.steps = {1, 3, 15};
  factors.factors = {{0.5, 2, 8}, {1, 1, 3}};
  factors.unmeasured = 1.5;
  return factors;
}

TEST(DistanceFactors, AreStraightInLogarithms) {
  const DistanceFactors factors = two_channels();
  for (const std::size_t k : {0, 1, 2})
    for (const std::size_t m : {0, 1})
      EXPECT_NEAR(std::exp(factors.log_factor(m, factors.steps[k])), factors.factors[m][k], 1e-14);
  // 1 + d is 4, 8 and 16.
  EXPECT_NEAR(factors.log_factor(0, 7), 0.5 * (std::log(2) + std::log(8)), 1e-14);
  EXPECT_NEAR(factors.log_factor(1, 7), 0.5 * std::log(3), 1e-14);
}

TEST(DistanceFactors, StayBeyondTheKnots) {
  const DistanceFactors factors = two_channels();
  EXPECT_EQ(factors.log_factor(0, 0.2), std::log(0.5));
  EXPECT_EQ(factors.log_factor(0, 1e9), std::log(8));
  EXPECT_EQ(factors.log_factor(0, kNever), std::log(1.5));
}

TEST(DistanceFactors, OfOneNumber) {
  const DistanceFactors factors(2.5);
  EXPECT_TRUE(factors.shared());
  for (const double distance : {0.5, 1.0, 100.0, kNever})
    for (const std::size_t m : {0, 3}) EXPECT_EQ(factors.log_factor(m, distance), std::log(2.5));
  EXPECT_EQ(DistanceFactors().log_factor(0, 7), 0);
}

TEST(DistanceFactors, SharesOfKnotsAddUp) {
  const double knots[] = {0.5, 2, 9};
  for (const double distance : {0.0, 0.5, 0.7, 2.0, 5.0, 9.0, 40.0}) {
    const KnotWeights at = knot_weights(knots, distance);
    EXPECT_NEAR(at.weights[0] + at.weights[1], 1, 1e-15) << distance;
    EXPECT_LT(at.first, 3u);
    if (at.weights[1] > 0) {
      EXPECT_LT(at.first, 2u);
    }
  }
}

}  // namespace
}  // namespace kalmia::model
