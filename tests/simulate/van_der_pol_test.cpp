#include "simulate/van_der_pol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kalmia/simulate.hpp"

namespace kalmia::simulation {
namespace {

using Oscillation = std::array<double, 2>;

// Period of the limit cycle, from two upward passages of zero, by bisection on the flow.
double period(double mu) {
  Oscillation x{2, 0};
  van_der_pol_flow(mu, 200, 1e-3, x);
  double passages[2] = {0, 0}, t = 0;
  int found = 0;
  while (found < 2) {
    Oscillation next = x;
    van_der_pol_flow(mu, 0.01, 1e-3, next);
    if (x[0] < 0 && next[0] >= 0) passages[found++] = t + 0.01 * x[0] / (x[0] - next[0]);
    x = next;
    t += 0.01;
  }
  return passages[1] - passages[0];
}

// mu = 0: a circle. Small mu: the period is 2 pi (1 + mu^2 / 16) + O(mu^4). mu = 1: 6.6633
// (Andersen & Geer 1982, and any long integration).
TEST(VanDerPol, HasTheKnownPeriods) {
  Oscillation x{1, 0};
  van_der_pol_flow(0, 1.7, kVanDerPolSubstep, x);
  EXPECT_NEAR(x[0], std::cos(1.7), 1e-11);
  EXPECT_NEAR(x[1], -std::sin(1.7), 1e-11);
  EXPECT_NEAR(period(0.2), 2 * std::numbers::pi * (1 + 0.04 / 16), 1e-4);
  EXPECT_NEAR(period(1), 6.6633, 1e-4);
}

TEST(VanDerPol, HalvingTheSubstepChangesNothingVisible) {
  double worst = 0;
  Oscillation x{2, 0};
  for (int k = 0; k < 200; ++k) {
    Oscillation fine = x;
    van_der_pol_flow(kVanDerPolMu, 0.1, kVanDerPolSubstep / 2, fine);
    van_der_pol_flow(kVanDerPolMu, 0.1, kVanDerPolSubstep, x);
    worst = std::max(worst, std::hypot(x[0] - fine[0], x[1] - fine[1]));
  }
  EXPECT_LT(worst, 1e-10);
}

TEST(VanDerPol, AStepIsTheFlow) {
  SimulateOptions options;
  options.steps = 20;
  options.dt = 0.3;
  const std::vector<double> x = kalmia::simulate("van-der-pol", options).series[0].x;
  for (std::size_t k = 1; k < 20; ++k) {
    Oscillation point{x[2 * k - 2], x[2 * k - 1]};
    van_der_pol_flow(kVanDerPolMu, 0.3, 1e-3, point);
    EXPECT_NEAR(point[0], x[2 * k], 1e-9) << k;
    EXPECT_NEAR(point[1], x[2 * k + 1], 1e-9) << k;
  }
}

// The amplitude of the cycle is close to 2 whatever mu (2.0228 at most), from the first step on.
TEST(VanDerPol, SeriesRunOnTheCycleAtAllPhases) {
  SimulateOptions options;
  options.steps = 200;
  options.series = 40;
  options.noise = 0;
  const Dataset data = kalmia::simulate("van-der-pol", options);
  int positive = 0, rising = 0;
  for (const Series& series : data.series) {
    double highest = 0, lowest = 0;
    for (std::size_t k = 0; k < 200; ++k) {
      highest = std::max(highest, series.x[2 * k]);
      lowest = std::min(lowest, series.x[2 * k]);
    }
    EXPECT_NEAR(highest, 2.02, 0.01);
    EXPECT_NEAR(lowest, -2.02, 0.01);
    positive += series.x[0] > 0 ? 1 : 0;
    rising += series.x[1] > 0 ? 1 : 0;
  }
  EXPECT_NEAR(positive, 20, 12);
  EXPECT_NEAR(rising, 20, 12);
}

}  // namespace
}  // namespace kalmia::simulation
