// The hot loops do not allocate: every operator new of this program is counted.
#include <gtest/gtest.h>

#include <vector>

#include "heads/state_stream.hpp"
#include "nn/adam.hpp"
#include "support/allocations.hpp"
#include "support/encoders.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

using test::allocations;

ArchitectureOptions small_options(nn::EncoderKind encoder) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 2;
  options.hidden = 16;
  options.decoder = {16};
  options.encoder = encoder;
  return options;
}

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  const std::vector<int> v(100);
  EXPECT_EQ(v.size(), 100u);
  EXPECT_GT(allocations, before);
}

void expect_no_allocation_in_training(nn::EncoderKind encoder) {
  for (const bool two_sided : {false, true}) {
    ArchitectureOptions options = small_options(encoder);
    options.two_sided = two_sided;
    test::WindowCase<float> at(options, {.missing = true, .uneven = true}, 20, 32, 3);
    StateWorkspace<float> workspace;
    workspace.prepare(at.model(), 20, 32, true);
    nn::Adam<float> adam(at.architecture.parameters.size(), {});
    const StateInput<float> input = at.group.view();
    const long before = allocations;
    for (int i = 0; i < 3; ++i) {
      engine::window_forward(at.model(), input, at.group.carry, {}, workspace);
      engine::window_backward(at.model(), input, 0.01, workspace);
      adam.step(workspace.gradient.span(), at.parameters.span());
      at.pack();
    }
    EXPECT_EQ(allocations, before);
  }
}

TEST(Allocation, TrainingStepsDoNotAllocate) {
  test::for_each_encoder(expect_no_allocation_in_training);
}

void expect_no_allocation_in_streaming(nn::EncoderKind encoder) {
  test::WindowCase<float> at(small_options(encoder), {}, 4, 16, 3);
  StateStream<float> stream(at.model(), at.parameters.span());
  StreamState<float> state = stream.start();
  const double y[] = {0.3, -0.1};
  state.features = {0.3f, -0.1f};
  const long before = allocations;
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(stream.step(state, y).failed);
  EXPECT_EQ(allocations, before);
}
TEST(Allocation, StreamingStepsDoNotAllocate) {
  test::for_each_encoder(expect_no_allocation_in_streaming);
}

}  // namespace
}  // namespace kalmia::heads
