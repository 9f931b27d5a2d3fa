#include "simulate/runge_kutta.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kalmia::simulation {
namespace {

using State = std::array<double, 2>;

// x'' = -x from (1, 0): (cos t, -sin t).
double rotation_error(double max_step) {
  State x{1, 0};
  integrate([](const State& s) { return State{s[1], -s[0]}; }, 2.0, max_step, x);
  return std::hypot(x[0] - std::cos(2.0), x[1] + std::sin(2.0));
}

TEST(RungeKutta, ConvergesWithTheFourthPower) {
  const double coarse = rotation_error(0.1), fine = rotation_error(0.05);
  EXPECT_LT(coarse, 1e-5);
  EXPECT_NEAR(coarse / fine, 16, 0.5);
}

TEST(RungeKutta, SubstepsAreNoLongerThanAsked) {
  for (const auto& [time, max_step, evaluations] :
       {std::tuple{0.05, 0.001, 200}, std::tuple{0.3, 0.1, 12}, std::tuple{1.1, 0.1, 44},
        std::tuple{0.31, 0.1, 16}, std::tuple{0.01, 1.0, 4}}) {
    int calls = 0;
    State x{0, 0};
    integrate(
        [&](const State&) {
          ++calls;
          return State{1, 2};
        },
        time, max_step, x);
    EXPECT_EQ(calls, evaluations) << time << " in " << max_step;
    EXPECT_NEAR(x[0], time, 1e-15);
    EXPECT_NEAR(x[1], 2 * time, 1e-15);
  }
}

}  // namespace
}  // namespace kalmia::simulation
