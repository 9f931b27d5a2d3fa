// The adjoint of a window of states, for any head: against central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heads/state_window.hpp"
#include "support/gradient_check.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {

using test::WindowCase;
using test::WindowFeatures;

struct GradientCase {
  std::string name;
  HeadKind head;
  bool two_sided;
  int state_dim;
  int meas_dim;
  WindowFeatures features;
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  int taps = 5;
  PosteriorRule posterior = PosteriorRule::Predicted;
  TransitionRule transition = TransitionRule::Residual;
};

inline void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

/// What windows may have, all at once and by kinds.
struct FeatureKinds {
  WindowFeatures plain, no_map{.map = false},
      all{.missing = true, .uneven = true, .carried = true, .centre = true, .driven = true},
      bent = all, scored = all, flow = all, in_gaps = all, bent_gaps = all;

  FeatureKinds() {
    bent.bent = bent.weighted = true;
    bent_gaps = bent;
    scored.scored = true;
    flow.flow = true;
    in_gaps.flow = in_gaps.gaps = bent_gaps.gaps = true;
  }
};

/// The whole backward pass, parameter by parameter, and the carried state, against central
/// differences of the forward pass in double.
inline void expect_adjoint(const GradientCase& c) {
  ArchitectureOptions options;
  options.state_dim = c.state_dim;
  options.meas_dim = c.meas_dim;
  options.input_dim = 3;
  options.hidden = 7;
  options.decoder = {6, 5};
  options.head = c.head;
  options.two_sided = c.two_sided;
  options.encoder = c.encoder;
  options.taps = c.taps;
  options.posterior = c.posterior;
  options.transition = c.transition;
  constexpr int kSteps = 19, kLanes = 16;  // more than one chunk of weight gradients
  constexpr double kScale = 0.01;
  WindowCase<double> at(options, c.features, kSteps, kLanes, 11);
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, true);
  const auto start = [&] {
    StateCarry<double> carry;
    carry.resize(at.architecture, kLanes);
    std::copy_n(at.group.carry.h.data(), carry.h.size(), carry.h.data());
    std::copy_n(at.group.carry.x.data(), carry.x.size(), carry.x.data());
    std::copy_n(at.group.carry.P.data(), carry.P.size(), carry.P.data());
    return carry;
  };
  const auto loss = [&] {
    at.pack();
    StateCarry<double> carry = start();
    return kScale * engine::window_forward(at.model(), at.group.view(), carry, {}, workspace);
  };
  ASSERT_TRUE(std::isfinite(loss()));
  ASSERT_TRUE(workspace.failures.empty());
  engine::window_backward(at.model(), at.group.view(), kScale, workspace);
  const std::vector<double> gradient(workspace.gradient.data(),
                                     workspace.gradient.data() + workspace.gradient.size());
  const std::vector<double> d_h(workspace.d_h.data(), workspace.d_h.data() + workspace.d_h.size());
  const std::vector<double> d_x(workspace.d_x.data(), workspace.d_x.data() + workspace.d_x.size());
  const std::vector<double> d_P(workspace.d_P.data(), workspace.d_P.data() + workspace.d_P.size());

  std::vector<test::GradientVariable> variables;
  for (const nn::ParameterView& view : at.architecture.parameters.views()) {
    const auto size = static_cast<std::size_t>(view.size());
    variables.push_back({view.name,
                         {at.parameters.data() + view.offset, size},
                         {gradient.data() + view.offset, size},
                         0});
  }
  if (c.features.carried) {
    variables.push_back({"carried h", at.group.carry.h.span(), d_h, 0});
    variables.push_back({"carried x", at.group.carry.x.span(), d_x, 0});
    variables.push_back({"carried P", at.group.carry.P.span(), d_P, c.state_dim});
  }
  const std::vector<double> d_theta(workspace.d_theta.data(),
                                    workspace.d_theta.data() + workspace.d_theta.size());
  if (c.features.driven && c.head == HeadKind::Recursion)
    variables.push_back({"theta", at.theta, d_theta, 0});
  // A short difference: it must not step over the kinks of the decoder's ReLU.
  test::check_gradient(loss, variables, 5, {.step = 1e-6});
}

}  // namespace kalmia::heads
