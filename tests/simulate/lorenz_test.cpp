#include "simulate/lorenz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kalmia/simulate.hpp"

namespace kalmia::simulation {
namespace {

using Point = std::array<double, 3>;

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

Dataset clean(int steps) {
  SimulateOptions options;
  options.steps = steps;
  options.noise = 0;
  options.seed = 3;
  return kalmia::simulate("lorenz", options);
}

// From every tenth point of a trajectory: one step with the substep halved.
TEST(Lorenz, HalvingTheSubstepChangesNothingVisible) {
  const Dataset data = clean(3000);
  double worst_step = 0, worst_lyapunov_time = 0;
  for (std::size_t k = 0; k < 3000; k += 10) {
    const double* x = data.series[0].x.data() + 3 * k;
    Point coarse{x[0], x[1], x[2]}, fine = coarse;
    lorenz_flow(0.05, kLorenzSubstep, coarse);
    lorenz_flow(0.05, kLorenzSubstep / 2, fine);
    worst_step = std::max(worst_step, distance(coarse, fine));
    // One Lyapunov time, 1 / 0.906.
    lorenz_flow(1.05, kLorenzSubstep, coarse);
    lorenz_flow(1.05, kLorenzSubstep / 2, fine);
    worst_lyapunov_time = std::max(worst_lyapunov_time, distance(coarse, fine));
  }
  EXPECT_LT(worst_step, 2e-9);
  EXPECT_LT(worst_lyapunov_time, 1e-7);
}

// The equations by themselves: derivatives by central differences of the flow.
TEST(Lorenz, TheFlowHasTheSystemsDerivative) {
  const Point x{3, -4, 25};
  Point later = x;
  const double h = 1e-4;
  lorenz_flow(h, h, later);
  EXPECT_NEAR((later[0] - x[0]) / h, 10 * (x[1] - x[0]), 0.1);
  EXPECT_NEAR((later[1] - x[1]) / h, x[0] * (28 - x[2]) - x[1], 0.1);
  EXPECT_NEAR((later[2] - x[2]) / h, x[0] * x[1] - 8.0 / 3 * x[2], 0.1);
  // The fixed point (sqrt(beta (rho - 1)), same, rho - 1) stays.
  const double c = std::sqrt(8.0 / 3 * 27);
  Point fixed{c, c, 27};
  lorenz_flow(1, kLorenzSubstep, fixed);
  EXPECT_LT(distance(fixed, {c, c, 27}), 1e-11);
}

// On the attractor time means of derivatives vanish: <x1 x2> = beta <x3>, <x1^2> = <x1 x2>. The
// mean of x3 is 23.55 (known from long integrations).
TEST(Lorenz, HasTheAttractorsStatistics) {
  const Dataset data = clean(100000);
  double x1 = 0, x2 = 0, x3 = 0, x11 = 0, x12 = 0;
  for (std::size_t k = 0; k < 100000; ++k) {
    const double* x = data.series[0].x.data() + 3 * k;
    x1 += x[0] / 1e5;
    x2 += x[1] / 1e5;
    x3 += x[2] / 1e5;
    x11 += x[0] * x[0] / 1e5;
    x12 += x[0] * x[1] / 1e5;
  }
  EXPECT_NEAR(x3, 23.55, 0.1);
  EXPECT_NEAR(x12, 8.0 / 3 * x3, 0.05);
  EXPECT_NEAR(x11, x12, 0.05);
  EXPECT_NEAR(x1, 0, 0.5);
  EXPECT_NEAR(x2, 0, 0.5);
}

TEST(Lorenz, AStepIsTheFlow) {
  SimulateOptions options;
  options.steps = 20;
  options.noise = 0;
  for (const double dt : {0.05, 0.02}) {
    options.dt = dt;
    const std::vector<double> x = kalmia::simulate("lorenz", options).series[0].x;
    for (std::size_t k = 1; k < 20; ++k) {
      Point point{x[3 * k - 3], x[3 * k - 2], x[3 * k - 1]};
      lorenz_flow(dt, 1e-4, point);
      EXPECT_LT(distance(point, {x[3 * k], x[3 * k + 1], x[3 * k + 2]}), 1e-8) << k;
    }
  }
}

// The attractor is a thin surface; a random point of the box around it is several units away from
// it. Each start must be close to some point of a long trajectory.
TEST(Lorenz, SeriesStartOnTheAttractorAndApart) {
  const Dataset attractor = clean(100000);
  const std::vector<double>& cloud = attractor.series[0].x;
  SimulateOptions options;
  options.steps = 1;
  options.series = 50;
  options.seed = 8;
  const Dataset data = kalmia::simulate("lorenz", options);
  int left = 0;
  for (const Series& series : data.series) {
    const Point start{series.x[0], series.x[1], series.x[2]};
    double nearest = 1e9;
    for (std::size_t i = 0; i < cloud.size(); i += 3)
      nearest = std::min(nearest, distance(start, {cloud[i], cloud[i + 1], cloud[i + 2]}));
    EXPECT_LT(nearest, 0.8);
    left += start[0] < 0 ? 1 : 0;
  }
  EXPECT_GT(left, 10);
  EXPECT_LT(left, 40);
}

}  // namespace
}  // namespace kalmia::simulation
