#include "simulate/pendulum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kalmia/simulate.hpp"

namespace kalmia::simulation {
namespace {

using Angles = std::array<double, 2>;

// Without damping and torque: small swings are harmonic with frequency sqrt(g).
TEST(Pendulum, SmallSwingsAreHarmonic) {
  PendulumConstants constants;
  constants.damping = 0;
  Angles x{1e-3, 0};
  pendulum_flow(constants, 0, 1.3, kPendulumSubstep, x);
  const double omega = std::sqrt(9.81);
  EXPECT_NEAR(x[0], 1e-3 * std::cos(1.3 * omega), 1e-9);
  EXPECT_NEAR(x[1], -1e-3 * omega * std::sin(1.3 * omega), 1e-9);
}

// From the horizontal a quarter swing takes sqrt(1/g) K(sin 45 deg), K = 1.8540746773013719.
TEST(Pendulum, LargeSwingsTakeTheEllipticTime) {
  PendulumConstants constants;
  constants.damping = 0;
  Angles x{std::acos(0.0), 0};
  pendulum_flow(constants, 0, 1.8540746773013719 / std::sqrt(9.81), kPendulumSubstep, x);
  EXPECT_NEAR(x[0], 0, 1e-9);
  // Energy: rate^2 / 2 = g.
  EXPECT_NEAR(x[1], -std::sqrt(2 * 9.81), 1e-9);
}

TEST(Pendulum, KeepsItsEnergyWithoutDamping) {
  PendulumConstants constants;
  constants.damping = 0;
  const auto energy = [](const Angles& x) { return x[1] * x[1] / 2 - 9.81 * std::cos(x[0]); };
  Angles x{2.5, 1};
  const double before = energy(x);
  pendulum_flow(constants, 0, 100, kPendulumSubstep, x);
  EXPECT_NEAR(energy(x), before, 1e-7);
}

// Small damped swings: exp(-d t / 2) cos(omega t + ...); a constant torque moves the rest point.
TEST(Pendulum, DampingAndTorqueActAsWritten) {
  PendulumConstants constants;
  constants.damping = 0.4;
  Angles x{1e-3, 0};
  const double omega = std::sqrt(9.81 - 0.04), t = 5 * 2 * std::acos(-1.0) / omega;
  pendulum_flow(constants, 0, t, kPendulumSubstep, x);
  EXPECT_NEAR(x[0], 1e-3 * std::exp(-0.2 * t), 1e-9);
  constants.damping = 5;
  pendulum_flow(constants, 2, 60, kPendulumSubstep, x);
  EXPECT_NEAR(x[0], std::asin(2 / 9.81), 1e-9);
}

TEST(Pendulum, HalvingTheSubstepChangesNothingVisible) {
  double worst = 0;
  for (int i = -10; i <= 10; ++i) {
    Angles coarse{0.3 * i, 0.5 * i + 2}, fine = coarse;
    pendulum_flow({}, 3, 0.05, kPendulumSubstep, coarse);
    pendulum_flow({}, 3, 0.05, kPendulumSubstep / 2, fine);
    worst = std::max(worst, std::abs(coarse[0] - fine[0]));
  }
  EXPECT_LT(worst, 1e-11);
}

// With a weak torque the swings are small, and the stationary variance of the rate is
// intensity / (2 damping), that of the angle this over gravity. The torque is held over a step,
// which takes about (omega dt)^2 / 12 of its power at the pendulum's frequency.
TEST(Pendulum, WeakTorqueGivesTheLinearVariance) {
  PendulumConstants constants;
  constants.intensity = 1e-4;
  SimulatedSystemOptions options;
  options.dt = 0.05;
  Pendulum system(options, constants);
  RandomStream random(4, "pendulum test");
  std::array<double, 2> x{0, 0};
  double angle = 0, rate = 0;
  constexpr int kSteps = 400000;
  for (int k = 0; k < kSteps; ++k) {
    system.advance(random, x);
    angle += x[0] * x[0] / kSteps;
    rate += x[1] * x[1] / kSteps;
  }
  // 20000 units of time, correlated over 1 / damping = 10: 2000 values, 3 % each.
  EXPECT_NEAR(rate / (1e-4 / 0.2), 1, 0.1);
  EXPECT_NEAR(angle / (1e-4 / 0.2 / 9.81), 1, 0.1);
}

// As users get it: it swings through large angles and hardly ever goes over the top.
TEST(Pendulum, SwingsWidely) {
  SimulateOptions options;
  options.steps = 20000;
  const Dataset data = kalmia::simulate("pendulum", options);
  double square = 0, largest = 0;
  for (std::size_t k = 0; k < 20000; ++k) {
    square += std::pow(data.series[0].x[2 * k], 2) / 20000;
    largest = std::max(largest, std::abs(data.series[0].x[2 * k]));
  }
  EXPECT_GT(std::sqrt(square), 0.3);
  EXPECT_LT(std::sqrt(square), 0.9);
  EXPECT_GT(largest, 1.5);
}

}  // namespace
}  // namespace kalmia::simulation
