#include "reproduce/supervised_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kalmia/error.hpp"

namespace kalmia::reproduction {
namespace {

TEST(SupervisedNoise, ResidualCovarianceIsTheMeanOfOuterProducts) {
  // f doubles both states; residuals (1, 2) and (3, 0).
  const std::vector<double> x = {1, 1, 3, 4, 9, 8};
  const std::vector<double> Q =
      residual_covariance(x, 2, [](std::span<const double> from, std::span<double> next) {
        next[0] = 2 * from[0];
        next[1] = 2 * from[1];
      });
  EXPECT_EQ(Q, (std::vector<double>{5, 1, 1, 2}));
}

TEST(SupervisedNoise, OneStepHasNoResidual) {
  EXPECT_THROW((void)residual_covariance(std::vector<double>{1, 2}, 2, {}), DataError);
}

// Least at `wanted`, in terms of logarithms and correlation.
double distance(const std::vector<double>& Q, const std::vector<double>& wanted) {
  const auto square = [](double v) { return v * v; };
  return 1 + square(std::log(Q[0] / wanted[0])) + square(std::log(Q[3] / wanted[3])) +
         square(Q[1] / std::sqrt(Q[0] * Q[3]) - wanted[1] / std::sqrt(wanted[0] * wanted[3]));
}

TEST(SupervisedNoise, FindsTheCovarianceOfLeastError) {
  const std::vector<double> wanted = {0.3, 0.05, 0.05, 0.02};
  const std::vector<double> Q = tune_process_noise(
      {1, 0, 0, 1}, 2, [&](const std::vector<double>& tried) { return distance(tried, wanted); });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(Q[i] / wanted[i], 1, 0.02) << i;
}

TEST(SupervisedNoise, GoesAroundWhereTheFilterBreaksDown) {
  const std::vector<double> wanted = {0.3, 0.05, 0.05, 0.02};
  const std::vector<double> Q =
      tune_process_noise({1e6, 0, 0, 1e6}, 2, [&](const std::vector<double>& tried) {
        return tried[0] > 5 ? std::numeric_limits<double>::infinity() : distance(tried, wanted);
      });
  EXPECT_NEAR(Q[0] / wanted[0], 1, 0.02);
  EXPECT_THROW(
      (void)tune_process_noise({1, 0, 0, 1}, 2, [](const std::vector<double>&) { return NAN; }),
      NumericalError);
}

}  // namespace
}  // namespace kalmia::reproduction
