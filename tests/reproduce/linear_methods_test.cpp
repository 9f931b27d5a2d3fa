#include <gtest/gtest.h>

#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

ReproduceRow row(const char* method, int n) {
  static const Trajectories data = make_trajectories("linear", 1, 4096, 64, 32768);
  const Experiment experiment = with_methods(make_experiment("linear"), {method});
  return experiment.tasks[0].run({&data, n, 1, 1, {}})[0].row;
}

// The set-up is the paper's: its numbers are 0.135 and 0.241. Bounds are those of the chance of
// 32,768 test steps.
TEST(LinearMethods, TheOptimalFilterReachesThePapersError) {
  const ReproduceRow found = row("kalman-optimal", 0);
  EXPECT_NEAR(*found.state_mse, 0.1355, 0.004);
  EXPECT_NEAR(*found.nees, 1, 0.02);
  EXPECT_NEAR(*found.coverage95, 0.95, 0.005);
}

TEST(LinearMethods, TheFirstOrderFilterReachesThePapersError) {
  EXPECT_NEAR(*row("kalman-first-order", 4096).state_mse, 0.242, 0.008);
}

TEST(LinearMethods, TuningOnCleanDataPays) {
  const double tuned = *row("kalman-first-order", 4096).state_mse;
  EXPECT_LE(tuned, *row("kalman-first-order", 128).state_mse);
}

TEST(LinearMethods, RawMeasurementsHaveTheErrorOfTheirNoise) {
  EXPECT_NEAR(*row("raw", 0).position_mse, 0.25, 0.004);
}

TEST(LinearMethods, WithTheFlowAFilterIsNearlyOptimal) {
  EXPECT_LT(*row("flow-filter", 1024).state_mse, 0.142);
}

}  // namespace
}  // namespace kalmia::reproduction
