#include <gtest/gtest.h>

#include "infer/window_run.hpp"
#include "support/window_case.hpp"

namespace kalmia::infer {
namespace {

class RunSteps : public testing::Test {
 protected:
  static constexpr int kSteps = 7, kLanes = 16;

  RunSteps() : at_(options(), {}, kSteps, kLanes, 4) {
    workspace_.prepare(at_.model(), kSteps, kLanes, false);
  }
  static heads::ArchitectureOptions options() {
    heads::ArchitectureOptions options;
    options.state_dim = options.meas_dim = 2;
    options.input_dim = 2;
    options.hidden = 3;
    return options;
  }
  // Runs all steps; `waiting` ones note the state that they find in the carry.
  engine::LaneFailure run(const std::vector<int>& waiting) {
    filled_.clear();
    found_.clear();
    WindowFilling filling;
    filling.waits = [&](int k) { return std::ranges::find(waiting, k) != waiting.end(); };
    filling.fill = [&](int k) {
      filled_.push_back(k);
      if (filling.waits(k)) found_.push_back(carry_.x[0]);
    };
    carry_.resize(at_.architecture, kLanes);
    Buffer<double> x(kSteps * 2 * kLanes);
    heads::StateMoments moments;
    moments.x_filt = x.data();
    const engine::LaneFailure failure =
        run_steps(at_.model(), at_.group, kSteps, filling, moments, carry_, workspace_);
    x_.assign(x.data(), x.data() + x.size());
    return failure;
  }

  test::WindowCase<double> at_;
  heads::StateWorkspace<double> workspace_;
  heads::StateCarry<double> carry_;
  std::vector<int> filled_;
  std::vector<double> found_, x_;
};

TEST_F(RunSteps, AStepThatWaitsFindsTheStateBeforeIt) {
  EXPECT_EQ(run({}).lane, -1);
  const std::vector<double> whole = x_;
  EXPECT_EQ(run({1, 2, 5}).lane, -1);
  EXPECT_EQ(filled_, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(x_, whole);
  ASSERT_EQ(found_.size(), 3u);
  const int steps[] = {0, 1, 4};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(found_[i], whole[static_cast<std::size_t>(steps[i] * 2 * kLanes)]);
}

TEST_F(RunSteps, NamesTheStepOfTheWindowThatFailed) {
  at_.group.y[static_cast<std::size_t>(4 * 2 * kLanes + 3)] = std::nan("");
  for (const std::vector<int>& waiting : {std::vector<int>{}, {2, 4}}) {
    const engine::LaneFailure failure = run(waiting);
    EXPECT_EQ(failure.lane, 3);
    EXPECT_EQ(failure.step, 4);
  }
}

}  // namespace
}  // namespace kalmia::infer
