// What a window must be, and what it gives whatever the head.
#include "engine/window.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/row_case.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

std::string refusal(const RowCase<float>& c, const RowInput<float>& input,
                    RowWorkspace<float>& workspace) {
  RowCarry<float> carry = c.carry();
  try {
    engine::window_forward(c.model(), input, carry, {}, workspace);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(EngineWindow, RefusesWhatDoesNotFit) {
  const RowCase<float> c(nn::EncoderKind::Gru, false, 6, 81);
  RowWorkspace<float> workspace = c.workspace(false);
  RowInput<float> input = c.input();
  EXPECT_EQ(refusal(c, input, workspace), "");
  input.lanes = 12;
  EXPECT_EQ(refusal(c, input, workspace),
            "window: lanes = 12, but it must be a positive multiple of 16");
  input = c.input();
  input.steps = 7;
  EXPECT_EQ(refusal(c, input, workspace),
            "window: steps x lanes = 7 x 16, but the workspace was prepared for 6 x 16");
  std::vector<int> length = c.length;
  length[5] = 7;
  input = c.input();
  input.length = length.data();
  EXPECT_EQ(refusal(c, input, workspace), "window: length[5] = 7, but it must be in 0..6");
  EXPECT_THROW(engine::window_backward(c.model(), c.input(), 1, workspace), ConfigError);
}

TEST(EngineWindow, NoStepsGiveNothing) {
  const RowCase<float> c(nn::EncoderKind::Lstm, false, 6, 82);
  RowWorkspace<float> workspace = c.workspace(true);
  RowCarry<float> carry = c.carry();
  EXPECT_NE(engine::window_forward(c.model(), c.input(), carry, {}, workspace), 0);
  engine::window_backward(c.model(), c.input(), 1, workspace);
  RowInput<float> none = c.input();
  none.steps = 0;
  none.length = nullptr;
  carry = c.carry();
  EXPECT_EQ(engine::window_forward(c.model(), none, carry, {}, workspace), 0);
  engine::window_backward(c.model(), none, 1, workspace);
  for (const float g : workspace.gradient.span()) ASSERT_EQ(g, 0);
  for (std::size_t i = 0; i < carry.h.size(); ++i) ASSERT_EQ(carry.h[i], c.start.h[i]);
}

// A lane with a number that is not finite is left out, the others go on.
TEST(EngineWindow, ABrokenLaneIsLeftOut) {
  RowCase<float> c(nn::EncoderKind::Conv, true, 6, 83);
  RowWorkspace<float> workspace = c.workspace(true);
  RowCarry<float> carry = c.carry();
  const double whole = engine::window_forward(c.model(), c.input(), carry, {}, workspace);
  const double own = workspace.lane_nll[5];
  ASSERT_NE(own, 0);
  EXPECT_FALSE(workspace.any_failed);
  c.input_fwd[static_cast<std::size_t>(1 * 3 * 16 + 5)] = std::nanf("");
  carry = c.carry();
  EXPECT_NEAR(engine::window_forward(c.model(), c.input(), carry, {}, workspace), whole - own,
              1e-4);
  EXPECT_TRUE(workspace.any_failed);
  engine::window_backward(c.model(), c.input(), 1, workspace);
  for (const float g : workspace.gradient.span()) ASSERT_TRUE(std::isfinite(g));
}

}  // namespace
}  // namespace kalmia::test
