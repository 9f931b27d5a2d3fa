// A long series, window by window: the carried state loses nothing, and memory does not grow.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/batch.hpp"
#include "support/allocations.hpp"
#include "support/encoders.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

using test::allocations;
using test::WindowCase;
using test::WindowResult;

constexpr int kLanes = 32;

ArchitectureOptions options_of(bool recursive, nn::EncoderKind encoder, bool two_sided = false) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 11;
  options.decoder = {8};
  options.head = recursive ? heads::HeadKind::Recursion : heads::HeadKind::Direct;
  options.two_sided = two_sided;
  options.encoder = encoder;
  options.taps = 7;
  return options;
}

std::vector<int> all_lanes() {
  std::vector<int> lanes;
  for (int lane = 0; lane < kLanes; ++lane) lanes.push_back(lane);
  return lanes;
}

template <typename Scalar>
class CarriedState : public testing::Test {};
struct ScalarNames {
  template <typename T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "Float" : "Double";
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CarriedState, Scalars, ScalarNames);

// Series of 0 to 53 steps with missing components, half of them begun earlier. The cuts fall
// before, on and after the ends of lanes; windows of one step are what streaming does.
template <typename T>
void expect_bits_of_one_long_window(bool recursive, nn::EncoderKind encoder) {
  constexpr int kSteps = 53;
  const std::vector<std::vector<int>> cuttings = {
      {53}, {16, 1, 20, 16}, {1, 52}, {52, 1}, {5, 0, 48}, std::vector<int>(kSteps, 1)};
  const WindowCase<T> c(options_of(recursive, encoder),
                        {.missing = true, .uneven = true, .carried = true, .centre = true}, kSteps,
                        kLanes, 31);
  StateWorkspace<T> workspace;
  workspace.prepare(c.model(), kSteps, kLanes, false);
  auto whole = test::copy_of(c.architecture, c.group);
  const WindowResult expected = test::run_window(c.model(), whole, workspace);

  for (const std::vector<int>& cuts : cuttings) {
    SCOPED_TRACE("first window of " + std::to_string(cuts[0]) + " steps, " +
                 std::to_string(cuts.size()) + " windows");
    auto carry = test::copy_of(c.architecture, c.group).carry;
    double loss = 0;
    int first = 0;
    for (const int steps : cuts) {
      auto window = test::take(c.architecture, c.group, first, steps, all_lanes());
      std::swap(window.carry, carry);
      const WindowResult part = test::run_window(c.model(), window, workspace);
      std::swap(window.carry, carry);
      loss += part.loss;
      for (const char* name : {"x_pred", "P_pred", "x_filt", "P_filt", "nll"}) {
        const test::ResultPanel &got = part.lane.at(name), &wanted = expected.lane.at(name);
        for (int lane = 0; lane < kLanes; ++lane)
          for (int k = 0; k < test::length_of(window, lane); ++k)
            for (int row = 0; row < got.rows; ++row)
              ASSERT_EQ(got.at(k, row, lane), wanted.at(first + k, row, lane))
                  << name << ", step " << first + k << ", row " << row << ", lane " << lane;
      }
      first += steps;
    }
    ASSERT_EQ(first, kSteps);
    EXPECT_NEAR(loss, expected.loss, 1e-13 * std::abs(expected.loss));
    EXPECT_TRUE(test::same_numbers(test::in_double(carry.h), expected.lane.at("carry.h").values));
    EXPECT_TRUE(test::same_numbers(test::in_double(carry.x), expected.lane.at("carry.x").values));
    EXPECT_TRUE(test::same_numbers(test::in_double(carry.P), expected.lane.at("carry.P").values));
  }
}

TYPED_TEST(CarriedState, WindowsGiveTheBitsOfOneLongWindow) {
  test::for_each_isa([] {
    test::for_each_encoder([](nn::EncoderKind encoder) {
      for (const bool recursive : {true, false}) {
        SCOPED_TRACE(recursive ? "recursive" : "recurrent");
        expect_bits_of_one_long_window<TypeParam>(recursive, encoder);
      }
    });
  });
}

// The end of a lane shows in its carry: the state after its own last step, not the window's.
TYPED_TEST(CarriedState, IsThatOfTheLastStepOfTheLane) {
  constexpr int kSteps = 21;
  for (const bool recursive : {true, false})
    for (const bool two_sided : {false, true}) {
      SCOPED_TRACE(std::string(recursive ? "recursive" : "recurrent") +
                   (two_sided ? ", two-sided" : ", one-sided"));
      WindowCase<TypeParam> c(options_of(recursive, nn::EncoderKind::Gru, two_sided),
                              {.missing = true, .uneven = true}, kSteps, kLanes, 32);
      StateWorkspace<TypeParam> workspace;
      workspace.prepare(c.model(), kSteps, kLanes, true);
      const WindowResult result = test::run_window(c.model(), c.group, workspace);
      int shorter = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int length = test::length_of(c.group, lane);
        if (length == 0) continue;
        shorter += length < kSteps ? 1 : 0;
        for (int row = 0; row < 3; ++row)
          EXPECT_EQ(result.lane.at("carry.x").at(0, row, lane),
                    result.lane.at("x_filt").at(length - 1, row, lane))
              << "lane " << lane << " of length " << length;
        for (int row = 0; row < 9; ++row)
          EXPECT_EQ(result.lane.at("carry.P").at(0, row, lane),
                    result.lane.at("P_filt").at(length - 1, row, lane))
              << "lane " << lane << " of length " << length;
      }
      EXPECT_GT(shorter, 0);
    }
}

// A workspace made for windows of 8 steps takes a series of any length: after the first window not
// a byte more is asked for, forward or backward.
template <typename T>
void expect_no_more_memory(nn::EncoderKind encoder) {
  constexpr int kSteps = 8, kWindows = 200;
  for (const bool recursive : {true, false})
    for (const bool two_sided : {false, true})
      for (const bool training : {false, true}) {
        SCOPED_TRACE(std::string(recursive ? "recursive" : "recurrent") +
                     (two_sided ? ", two-sided" : ", one-sided") +
                     (training ? ", training" : ", inference"));
        WindowCase<T> c(options_of(recursive, encoder, two_sided),
                        {.missing = true, .uneven = true, .carried = true, .centre = true}, kSteps,
                        kLanes, 33);
        c.group.y[0] = std::numeric_limits<double>::quiet_NaN();  // and a lane that fails
        c.group.observed[0] = 1;
        c.group.length[0] = kSteps;
        const StateModel<T> model = c.model();
        const StateInput<T> input = c.group.view();
        StateWorkspace<T> workspace;
        workspace.prepare(c.model(), kSteps, kLanes, training);
        const long before = allocations;
        double loss = 0;
        for (int i = 0; i < kWindows; ++i) {
          loss += engine::window_forward(model, input, c.group.carry, {}, workspace);
          if (training) engine::window_backward(model, input, 1.0, workspace);
        }
        EXPECT_EQ(allocations - before, 0);
        EXPECT_TRUE(std::isfinite(loss));
      }
}
TYPED_TEST(CarriedState, SeriesOfAnyLengthNeedNoMoreMemory) {
  test::for_each_encoder(
      [](nn::EncoderKind encoder) { expect_no_more_memory<TypeParam>(encoder); });
}

}  // namespace
}  // namespace kalmia::heads
