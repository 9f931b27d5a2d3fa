#include "reproduce/smoother_check.hpp"

#include <gtest/gtest.h>

#include "reproduce/trajectories.hpp"
#include "simulate/linear_motion.hpp"

namespace kalmia::reproduction {
namespace {

TEST(SmootherCheck, OfALinearSystemTheBackwardPassIsExact) {
  LinearModel model = simulation::linear_motion_model();
  model.e = {0.1, -0.2, 0.05, 0, 0.3, 0};
  model.x0 = {1, 2, 3, -1, -2, -3};
  const Dataset data = make_trajectories("linear", 1, 1, 1, 40).test;
  const ReproduceSmootherCheck check =
      check_linearized_smoother(model, data.series[0].y.data(), 40);
  EXPECT_EQ(check.steps, 40);
  EXPECT_LT(check.mean_difference, 1e-9);
  EXPECT_LT(check.variance_difference, 1e-9);
}

// x[0], x[1] by hand: the posterior of two scalars.
TEST(SmootherCheck, LooksAtEveryStep) {
  LinearModel model;
  model.state_dim = model.meas_dim = 1;
  model.F = model.Q = model.H = model.R = model.P0 = {1};
  const std::vector<double> y = {1, 3};
  const ReproduceSmootherCheck check = check_linearized_smoother(model, y.data(), 2);
  EXPECT_LT(check.mean_difference, 1e-14);
  EXPECT_LT(check.variance_difference, 1e-14);
}

}  // namespace
}  // namespace kalmia::reproduction
