#include <gtest/gtest.h>

#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

std::vector<Outcome> run(const char* method, int n) {
  static const Trajectories data = make_trajectories("lorenz", 1, 1024, 512, 4096);
  const Experiment experiment = with_methods(make_experiment("lorenz"), {method});
  return experiment.tasks[0].run({&data, n, 1, 1, {}});
}

TEST(LorenzMethods, ThePapersMapIsWeakAndTheFlowIsNot) {
  const double raw = *run("raw", 0)[0].row.state_mse;
  const double frozen = *run("eks", 512)[0].row.state_mse;
  const double flow = *run("eks-flow", 512)[0].row.state_mse;
  EXPECT_NEAR(raw, 0.25, 0.01);
  EXPECT_LT(frozen, 0.17);
  EXPECT_GT(frozen, 0.1);
  EXPECT_LT(flow, 0.0015);
}

TEST(LorenzMethods, NothingIsBelowTheFloor) {
  const double floor = *run("floor", 0)[0].row.state_mse;
  EXPECT_LT(floor, 3e-4);
  EXPECT_LT(floor, *run("eks-flow", 512)[0].row.state_mse);
}

TEST(LorenzMethods, ConstantsAreLearnedFromAFifthOff) {
  const std::vector<Outcome> found = run("parameters-smoother", 1024);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_LT(*found[0].row.state_mse, 0.012);
  EXPECT_LT(*found[1].row.state_mse, 0.004);
}

}  // namespace
}  // namespace kalmia::reproduction
