#include "heads/state_window.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "lanes/isa.hpp"
#include "support/gradient_check.hpp"
#include "support/lane_groups.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

using test::WindowCase;
using test::WindowFeatures;

// x and P after every step, lane by lane.
void expect_state_reference(const ArchitectureOptions& options, const WindowFeatures& features) {
  constexpr int kSteps = 6, kLanes = 16;
  const int N = options.state_dim;
  WindowCase<double> at(options, features, kSteps, kLanes, 29);
  const reference::Model model = test::reference_of(at);
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  StateGroup<double> group = test::copy_of(at.architecture, at.group);
  const test::WindowResult found = test::run_window(at.model(), group, workspace);
  for (int lane = 0; lane < kLanes; ++lane) {
    const reference::ModelRun want =
        reference::run(model, test::sequence_of(at.architecture, at.group, lane));
    for (int k = 0; k < kSteps; ++k) {
      const reference::Gaussian& state = want.filtered[static_cast<std::size_t>(k)];
      EXPECT_LE((found.lane.at("x_filt").matrix(k, lane, N, 1) - state.mean).norm(), 1e-11);
      EXPECT_LE((found.lane.at("P_filt").matrix(k, lane, N, N) - state.cov).norm(), 1e-11);
    }
  }
}

ArchitectureOptions small_smoother() {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 2;
  options.hidden = 4;
  options.decoder = {3};
  options.two_sided = true;
  return options;
}

TEST(Window, TheAlternativePosteriorIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.posterior = heads::PosteriorRule::Alternative;
  expect_state_reference(options, {.missing = true, .carried = true, .driven = true});
}

TEST(Window, NoiseAlongAFlowIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.two_sided = false;
  expect_state_reference(
      options, {.missing = true, .uneven = false, .carried = true, .driven = true, .flow = true});
}

TEST(Window, GapsAreThoseOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.two_sided = false;
  for (const bool flow : {false, true})
    expect_state_reference(options, {.missing = true,
                                     .carried = true,
                                     .centre = true,
                                     .driven = true,
                                     .flow = flow,
                                     .gaps = true});
}

TEST(Window, GoingTowardTheCentreIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.transition = heads::TransitionRule::TowardCentre;
  expect_state_reference(options,
                         {.missing = true, .carried = true, .centre = true, .driven = true});
}

// A step that does not count changes nothing but the sums.
TEST(Window, ScoresWeighTheLikelihoodOfAStep) {
  constexpr int kSteps = 5, kLanes = 16;
  WindowCase<double> at(small_smoother(), {.scored = true}, kSteps, kLanes, 31);
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  Buffer<double> nll(kSteps * kLanes);
  StateMoments moments;
  moments.nll = nll.data();
  engine::window_forward(at.model(), at.group.view(), at.group.carry, moments, workspace);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < kSteps; ++k) {
      sum += at.group.score[k * kLanes + lane] * nll[k * kLanes + lane];
      all += nll[k * kLanes + lane];
    }
    EXPECT_NEAR(workspace.lane_nll[lane], sum, 1e-12 * std::abs(sum) + 1e-12);
    EXPECT_NE(all, sum);
  }
}

// Many states: the same as the reference, and a gradient that fits.
TEST(Window, StateDimensionsUpTo128) {
  for (const int state_dim : {32, 128}) {
    SCOPED_TRACE(state_dim);
    ArchitectureOptions options;
    options.state_dim = state_dim;
    options.meas_dim = 5;
    options.input_dim = 2;
    options.hidden = 4;
    options.decoder = {3};
    constexpr int kSteps = 4, kLanes = 16;
    WindowCase<double> at(options, {.missing = true}, kSteps, kLanes, 23);
    for (double& p : at.parameters.span()) p *= 0.1;  // F and Q of a size that suits many states
    at.pack();
    const reference::Model model = test::reference_of(at);
    Buffer<double> x(static_cast<std::size_t>(kSteps * state_dim * kLanes));
    StateMoments moments;
    moments.x_filt = x.data();
    StateWorkspace<double> workspace;
    workspace.prepare(at.model(), kSteps, kLanes, true);
    const auto loss = [&] {
      at.pack();
      StateCarry<double> carry;
      carry.resize(at.architecture, kLanes);
      return engine::window_forward(at.model(), at.group.view(), carry, moments, workspace);
    };
    loss();
    ASSERT_TRUE(workspace.failures.empty());
    for (const int lane : {0, 13}) {
      const reference::ModelRun want =
          reference::run(model, test::sequence_of(at.architecture, at.group, lane));
      for (int k = 0; k < kSteps; ++k)
        for (int i = 0; i < state_dim; ++i)
          ASSERT_NEAR(x[static_cast<std::size_t>((k * state_dim + i) * kLanes + lane)],
                      want.filtered[static_cast<std::size_t>(k)].mean(i), 1e-10)
              << "lane " << lane << ", step " << k << ", state " << i;
    }
    engine::window_backward(at.model(), at.group.view(), 1.0, workspace);
    const nn::ParameterView& bias = at.architecture.parameters.at("decoder.1.bias");
    const auto size = static_cast<std::size_t>(bias.size());
    const std::vector<double> gradient(workspace.gradient.data() + bias.offset,
                                       workspace.gradient.data() + bias.offset + bias.size());
    test::check_gradient(loss,
                         {{bias.name, {at.parameters.data() + bias.offset, size}, gradient, 0}}, 5,
                         {.step = 1e-6, .directions = 1});
  }
}

// d loss / d R, which the learned measurement noise needs.
TEST(Window, GradientOfTheMeasurementNoise) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 2;
  options.hidden = 5;
  options.decoder = {4};
  WindowCase<double> at(options, {.missing = true, .uneven = true}, 9, 16, 3);
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), 9, 16, true);
  std::vector<double> R = at.emission.R();
  const auto loss = [&] {
    at.emission.set_R(R);
    StateCarry<double> carry;
    carry.resize(at.architecture, 16);
    return engine::window_forward(at.model(), at.group.view(), carry, {}, workspace);
  };
  loss();
  engine::window_backward(at.model(), at.group.view(), 1.0, workspace);
  const std::vector<double> d_R(workspace.d_R.data(), workspace.d_R.data() + 4);
  test::check_gradient(loss, {{"R", R, d_R, 2}}, 7);
}

// A lane that breaks down is named, and does not touch the others.
TEST(Window, ReportsTheLaneThatFailed) {
  ArchitectureOptions options;
  options.state_dim = 2;
  options.meas_dim = 1;
  options.input_dim = 1;
  options.hidden = 4;
  options.decoder = {4};
  WindowCase<float> at(options, {.carried = true}, 6, 16, 3);
  const int n = 2;
  for (int i = 0; i < n * n; ++i)
    at.group.carry.P[static_cast<std::size_t>(i * 16 + 4)] = i % 3 == 0 ? -1e6 : 0.0;
  StateWorkspace<float> workspace;
  workspace.prepare(at.model(), 6, 16, true);
  engine::window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace);
  ASSERT_EQ(workspace.failures.size(), 1u);
  EXPECT_EQ(workspace.failures[0].lane, 4);
  EXPECT_EQ(workspace.failures[0].step, 0);
  EXPECT_TRUE(std::isnan(workspace.lane_nll[4]));
  engine::window_backward(at.model(), at.group.view(), 1.0, workspace);
  for (const float g : workspace.gradient.span()) ASSERT_TRUE(std::isfinite(g));
}

TEST(Window, RefusesSizesThatDoNotFit) {
  ArchitectureOptions options;
  options.state_dim = 2;
  options.meas_dim = 1;
  options.input_dim = 1;
  WindowCase<float> at(options, {}, 6, 16, 3);
  StateWorkspace<float> workspace;
  workspace.prepare(at.model(), 4, 16, false);
  EXPECT_THROW(engine::window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace),
               ConfigError);
  workspace.prepare(at.model(), 6, 16, false);
  EXPECT_THROW(engine::window_backward(at.model(), at.group.view(), 1.0, workspace), ConfigError);
  ArchitectureOptions toward = options;
  toward.transition = heads::TransitionRule::TowardCentre;
  WindowCase<float> no_centre(toward, {}, 6, 16, 3);
  workspace.prepare(no_centre.model(), 6, 16, false);
  EXPECT_THROW(engine::window_forward(no_centre.model(), no_centre.group.view(),
                                      no_centre.group.carry, {}, workspace),
               ConfigError);
  workspace.prepare(at.model(), 6, 16, false);
  at.group.length.assign(16, 7);
  EXPECT_THROW(engine::window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace),
               ConfigError);
}

}  // namespace
}  // namespace kalmia::heads
