#include "engine/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

ArchitectureOptions options() {
  ArchitectureOptions o;
  o.state_dim = 3;
  o.meas_dim = 2;
  o.input_dim = 2;
  o.hidden = 9;
  o.decoder = {8};
  return o;
}

// A batch of several groups is the sum of its groups.
TEST(BatchEngine, SumsItsGroups) {
  constexpr int kGroups = 5, kSteps = 7, kLanes = 16;
  test::WindowCase<double> at(options(), {}, kSteps, kLanes, 2);
  std::vector<StateGroup<double>> groups;
  for (int g = 0; g < kGroups; ++g)
    groups.push_back(std::move(
        test::WindowCase<double>(options(), {}, kSteps, kLanes, static_cast<std::uint64_t>(g))
            .group));
  const auto size = static_cast<std::size_t>(at.architecture.parameters.size());
  std::vector<double> want(size, 0.0), want_R(4, 0.0);
  double want_nll = 0;
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, true);
  for (StateGroup<double>& group : groups) {
    StateCarry<double> carry;
    carry.resize(at.architecture, kLanes);
    want_nll += engine::window_forward(at.model(), group.view(), carry, {}, workspace);
    engine::window_backward(at.model(), group.view(), 0.1, workspace);
    for (std::size_t i = 0; i < size; ++i) want[i] += workspace.gradient[i];
    for (std::size_t i = 0; i < 4; ++i) want_R[i] += workspace.d_R[i];
  }
  ThreadTeam team(2);
  engine::BatchEngine<StateGroup<double>> engine(at.model(), team, kSteps, kLanes, true);
  std::vector<double> gradient(size), d_R(4);
  const engine::BatchResult result = engine.gradient(groups, 0.1, gradient, d_R);
  EXPECT_EQ(result.nll, want_nll);
  EXPECT_EQ(result.failed_lanes, 0);
  EXPECT_EQ(gradient, want);
  EXPECT_EQ(d_R, want_R);
}

TEST(BatchEngine, NamesTheSequenceAndTheStepThatFailed) {
  test::WindowCase<float> at(options(), {.carried = true}, 6, 16, 2);
  std::vector<StateGroup<float>> groups;
  groups.push_back(std::move(at.group));
  groups.push_back(
      std::move(test::WindowCase<float>(options(), {.carried = true}, 6, 16, 3).group));
  ThreadTeam team(2);
  engine::BatchEngine<StateGroup<float>> engine(at.model(), team, 6, 16, false);
  EXPECT_NO_THROW(engine.forward(groups).require_success());

  for (int i = 0; i < 9; ++i)  // lane 4 goes on from a P that is no covariance
    groups[1].carry.P[static_cast<std::size_t>(i * 16 + 4)] = i % 4 == 0 ? -1e6 : 0.0;
  const engine::BatchResult failed = engine.forward(groups);
  EXPECT_EQ(failed.failed_lanes, 1);
  EXPECT_EQ(failed.failed_sequence, 20);
  EXPECT_EQ(failed.failed_step, 0);
  EXPECT_TRUE(failed.failed_covariance);
  try {
    failed.require_success();
    FAIL() << "no exception";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("step 0, sequence 20: innovation covariance"),
              std::string::npos)
        << error.what();
  }

  groups[0].y[7] = std::nan("");  // not marked as missing
  const engine::BatchResult not_finite = engine.forward(groups);
  EXPECT_EQ(not_finite.failed_sequence, 7);
  EXPECT_EQ(not_finite.failed_step, 0);
  EXPECT_FALSE(not_finite.failed_covariance);
  EXPECT_THROW(not_finite.require_success(), NumericalError);
}

TEST(BatchEngine, RefusesSizesThatDoNotFit) {
  test::WindowCase<float> at(options(), {}, 4, 16, 2);
  std::vector<StateGroup<float>> groups(1);
  groups[0].resize(at.architecture, 4, 16);
  ThreadTeam team(1);
  engine::BatchEngine<StateGroup<float>> inference(at.model(), team, 4, 16, false);
  std::vector<float> gradient(static_cast<std::size_t>(at.architecture.parameters.size()));
  EXPECT_THROW(inference.gradient(groups, 1, gradient), ConfigError);
  const std::vector<StateMoments> moments(2);
  EXPECT_THROW(inference.forward(groups, moments), ConfigError);
  engine::BatchEngine<StateGroup<float>> training(at.model(), team, 4, 16, true);
  gradient.pop_back();
  EXPECT_THROW(training.gradient(groups, 1, gradient), ConfigError);
}

}  // namespace
}  // namespace kalmia::heads
