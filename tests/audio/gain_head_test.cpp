// Gains from networks: against the naive computation, and their adjoint.
#include "audio/gain_head.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kalmia/error.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

constexpr int kSteps = 19, kLanes = 16, kGains = 5, kInputs = 4;

engine::NetworkOptions gain_options(bool two_sided) {
  engine::NetworkOptions options;
  options.input_dim = kInputs;
  options.hidden = 6;
  options.decoder = {7};
  options.two_sided = two_sided;
  return options;
}

// Random networks and data; lanes have different lengths.
template <typename T>
struct GainCase {
  engine::NetworkLayout architecture;
  Buffer<T> parameters;
  engine::PackedNetwork<T> network;
  audio::GainGroup<T> group;

  explicit GainCase(bool two_sided)
      : architecture(gain_options(two_sided), {.count = kGains, .positive = {}}) {
    RandomStream random(51, "gains");
    parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
    for (T& p : parameters.span()) p = static_cast<T>(0.4 * random.normal());
    group.resize(architecture, kSteps, kLanes);
    for (Buffer<T>* panel :
         {&group.input_fwd, &group.input_bwd, &group.offset, &group.square, &group.product})
      for (T& each : panel->span()) each = static_cast<T>(random.normal());
    for (T& each : group.square.span()) each = std::abs(each);
    for (int lane = 0; lane < kLanes; ++lane) group.length.push_back(kSteps - lane % 5);
    pack();
  }
  void pack() { network.pack(architecture, parameters.data()); }
  audio::GainWindow<T> model() const { return {&architecture, &network}; }
};

template <typename T>
audio::GainCarry<T> fresh_carry(const GainCase<T>& c) {
  audio::GainCarry<T> carry;
  carry.h.resize(c.group.carry.h.size());
  return carry;
}

// Gains of a lane, step by step.
template <typename T>
std::vector<Vector> naive_gains(const GainCase<T>& c, int lane) {
  reference::Model model;
  model.networks = &c.architecture;
  for (const T p : c.parameters.span()) model.parameters.push_back(static_cast<double>(p));
  const auto column = [&](const Buffer<T>& panels, int k, int rows) {
    Vector v(rows);
    for (int row = 0; row < rows; ++row)
      v(row) = static_cast<double>(panels[panel_at(k, rows, row, kLanes, lane)]);
    return v;
  };
  const int K = c.group.length[static_cast<std::size_t>(lane)], H = c.architecture.networks.hidden;
  const int directions = c.architecture.directions();
  std::vector<Vector> h(static_cast<std::size_t>(K), Vector::Zero(directions * H));
  // Forwards nothing is read at the first step, backwards nothing at the last.
  Vector state = Vector::Zero(H);
  for (int k = 1; k < K; ++k)
    h[static_cast<std::size_t>(k)].head(H) =
        reference::encode(model, "_fwd", column(c.group.input_fwd, k, kInputs), state);
  state.setZero();
  for (int k = K - 2; k >= 0 && directions == 2; --k)
    h[static_cast<std::size_t>(k)].tail(H) =
        reference::encode(model, "_bwd", column(c.group.input_bwd, k, kInputs), state);
  std::vector<Vector> gains;
  for (int k = 0; k < K; ++k) {
    const Vector out = reference::decode(model, h[static_cast<std::size_t>(k)]) +
                       column(c.group.offset, k, kGains);
    gains.push_back((1 / (1 + (-out.array()).exp())).matrix());
  }
  return gains;
}

template <typename T>
void expect_naive(bool two_sided, double tolerance) {
  GainCase<T> c(two_sided);
  audio::GainWorkspace<T> workspace;
  workspace.prepare(c.model(), kSteps, kLanes, false);
  std::vector<double> gains(panel_at(kSteps, kGains, 0, kLanes, 0));
  const double total =
      engine::window_forward(c.model(), c.group.view(), c.group.carry, {gains.data()}, workspace);
  double expected_total = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<Vector> expected = naive_gains(c, lane);
    double score = 0;
    for (int k = 0; k < c.group.length[static_cast<std::size_t>(lane)]; ++k)
      for (int f = 0; f < kGains; ++f) {
        const std::size_t at = panel_at(k, kGains, f, kLanes, lane);
        const double g = expected[static_cast<std::size_t>(k)](f);
        ASSERT_NEAR(gains[at], g, tolerance) << "lane " << lane << ", step " << k;
        score += static_cast<double>(c.group.square[at]) * g * g -
                 2 * static_cast<double>(c.group.product[at]) * g;
      }
    EXPECT_NEAR(workspace.lane_nll[static_cast<std::size_t>(lane)], score, 100 * tolerance);
    expected_total += score;
  }
  EXPECT_NEAR(total, expected_total, 1000 * tolerance);
}

TEST(GainHead, MatchTheNaiveComputation) {
  for_each_isa([] {
    for (const bool two_sided : {false, true}) {
      expect_naive<double>(two_sided, 1e-8);
      expect_naive<float>(two_sided, 3e-6);
    }
  });
}

TEST(GainHead, Adjoint) {
  for_each_isa([] {
    for (const bool two_sided : {false, true}) {
      GainCase<double> c(two_sided);
      audio::GainWorkspace<double> workspace;
      workspace.prepare(c.model(), kSteps, kLanes, true);
      constexpr double kScale = 0.3;
      const auto loss = [&] {
        c.pack();
        audio::GainCarry<double> carry = fresh_carry(c);
        return kScale * engine::window_forward(c.model(), c.group.view(), carry, {}, workspace);
      };
      loss();
      engine::window_backward(c.model(), c.group.view(), kScale, workspace);
      const std::vector<double> gradient(workspace.gradient.data(),
                                         workspace.gradient.data() + c.parameters.size());
      // A short difference: it must not step over the kinks of the decoder's ReLU.
      check_gradient(loss, {{"parameters", c.parameters.span(), gradient}}, 52, {.step = 1e-6});
    }
  });
}

// A lane with a number that is not finite is left out, the others go on.
TEST(GainHead, ABrokenLaneIsLeftOut) {
  GainCase<float> c(true);
  audio::GainWorkspace<float> workspace;
  workspace.prepare(c.model(), kSteps, kLanes, true);
  const auto run = [&] {
    audio::GainCarry<float> carry = fresh_carry(c);
    return engine::window_forward(c.model(), c.group.view(), carry, {}, workspace);
  };
  const double whole = run();
  const double own = workspace.lane_nll[3];
  c.group.square[panel_at(4, kGains, 2, kLanes, 3)] = std::nanf("");
  EXPECT_NEAR(run(), whole - own, 1e-4);
  ASSERT_EQ(workspace.failures.size(), 1u);
  EXPECT_EQ(workspace.failures[0].lane, 3);
  EXPECT_EQ(workspace.failures[0].step, 4);
  engine::window_backward(c.model(), c.group.view(), 1, workspace);
  for (std::size_t i = 0; i < c.parameters.size(); ++i)
    ASSERT_TRUE(std::isfinite(workspace.gradient[i]));
}

TEST(GainHead, WhatDoesNotFitIsRefused) {
  GainCase<float> c(true);
  audio::GainWorkspace<float> workspace;
  workspace.prepare(c.model(), kSteps, kLanes, false);
  audio::GainInput<float> input = c.group.view();
  input.product = nullptr;
  EXPECT_THROW(window_forward(c.model(), input, c.group.carry, {}, workspace), ConfigError);
}

}  // namespace
}  // namespace kalmia::test
