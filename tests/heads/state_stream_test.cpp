#include "heads/state_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kalmia/error.hpp"
#include "support/encoders.hpp"
#include "support/isas.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

using test::WindowCase;
using test::WindowFeatures;

ArchitectureOptions stream_options(int state_dim, int meas_dim, bool recursive,
                                   nn::EncoderKind encoder = nn::EncoderKind::Gru) {
  ArchitectureOptions options;
  options.state_dim = state_dim;
  options.meas_dim = meas_dim;
  options.input_dim = meas_dim + 1;
  options.hidden = 21;
  options.decoder = {17, 9};
  options.head = recursive ? heads::HeadKind::Recursion : heads::HeadKind::Direct;
  options.encoder = encoder;
  options.taps = 6;
  return options;
}

// What a stream keeps of a transformer is a ring, whose newest slot is marked: here in a window's
// order, oldest first.
template <typename T>
std::vector<T> in_order_of_window(const ArchitectureOptions& options, std::vector<T> h) {
  if (options.encoder != nn::EncoderKind::Transformer) return h;
  const std::ptrdiff_t slot = 2 * options.hidden + 1;
  for (auto end = h.begin() + slot; end <= h.end(); end += slot) {
    if (end[-1] != T(nn::kNewestMark)) continue;
    end[-1] = T(1);
    std::rotate(h.begin(), end, h.end());
    break;
  }
  return h;
}

// Streaming a sequence gives what the window engine gives for its lane.
template <typename T>
void expect_equal_to_window(const ArchitectureOptions& options, double tolerance) {
  constexpr int kSteps = 25, kLanes = 16, kLane = 3;
  WindowCase<T> at(options, {.missing = true, .centre = true, .driven = true}, kSteps, kLanes, 17);
  const int N = options.state_dim, M = options.meas_dim, inputs = options.input_dim;
  Buffer<double> x_filt(static_cast<std::size_t>(kSteps * N * kLanes));
  Buffer<double> P_pred(static_cast<std::size_t>(kSteps * N * N * kLanes));
  Buffer<double> F(static_cast<std::size_t>(kSteps * N * N * kLanes));
  Buffer<double> nll(static_cast<std::size_t>(kSteps * kLanes));
  StateMoments moments;
  moments.x_filt = x_filt.data();
  moments.P_pred = P_pred.data();
  moments.nll = nll.data();
  moments.F = F.data();
  StateWorkspace<T> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  engine::window_forward(at.model(), at.group.view(), at.group.carry, moments, workspace);

  StateStream<T> stream(at.model(), at.parameters.span());
  StreamState<T> state = stream.start();
  for (int k = 0; k < kSteps; ++k) {
    std::vector<double> y;
    for (int m = 0; m < M; ++m) {
      const auto i = static_cast<std::size_t>((k * M + m) * kLanes + kLane);
      y.push_back(at.group.observed[i] != 0 ? at.group.y[i] : std::nan(""));
    }
    // The window's input at k + 1 is what was noted with the measurement at k.
    std::vector<T> features(static_cast<std::size_t>(inputs), T(0));
    for (int i = 0; i < inputs && k + 1 < kSteps; ++i)
      features[static_cast<std::size_t>(i)] =
          at.group.input_fwd[static_cast<std::size_t>(((k + 1) * inputs + i) * kLanes + kLane)];
    const std::vector<double> u = {
        at.group.u[static_cast<std::size_t>(2 * k * kLanes + kLane)],
        at.group.u[static_cast<std::size_t>((2 * k + 1) * kLanes + kLane)]};
    const StreamResult result =
        stream.step(state, y, at.group.dt[static_cast<std::size_t>(k * kLanes + kLane)], u);
    state.features = features;
    for (int i = 0; i < N && k + 1 < kSteps; ++i)
      state.centre[static_cast<std::size_t>(i)] =
          at.group.centre[static_cast<std::size_t>(((k + 1) * N + i) * kLanes + kLane)];
    ASSERT_FALSE(result.failed);
    ASSERT_NEAR(result.nll, nll[static_cast<std::size_t>(k * kLanes + kLane)], 100 * tolerance)
        << "step " << k;
    for (int i = 0; i < N; ++i) {
      const double wanted = x_filt[static_cast<std::size_t>((k * N + i) * kLanes + kLane)];
      ASSERT_NEAR(state.x[static_cast<std::size_t>(i)], wanted,
                  tolerance * std::max(1.0, std::abs(wanted)))
          << "step " << k;
    }
    for (int i = 0; i < N * N; ++i) {
      const double wanted = P_pred[static_cast<std::size_t>((k * N * N + i) * kLanes + kLane)];
      ASSERT_NEAR(stream.P_pred()[static_cast<std::size_t>(i)], wanted,
                  tolerance * std::max(1.0, std::abs(wanted)))
          << "step " << k;
    }
    for (int i = 0; i < N * N && k > 0; ++i)
      ASSERT_NEAR(stream.F()[static_cast<std::size_t>(i)],
                  F[static_cast<std::size_t>((k * N * N + i) * kLanes + kLane)], tolerance)
          << "step " << k;
  }
  const std::vector<T> h = in_order_of_window(options, state.h);
  for (std::size_t i = 0; i < h.size(); ++i)
    ASSERT_NEAR(static_cast<double>(h[i]),
                static_cast<double>(at.group.carry.h[i * kLanes + kLane]), tolerance)
        << "row " << i << " of the encoder's state";
}

// What rounding in float does to the window's own states, relative to their size: a random model
// may be unstable, and then magnifies it from step to step.
double rounding_of(const ArchitectureOptions& options) {
  constexpr int kSteps = 25, kLanes = 16;
  const auto states = [&]<typename T>(T) {
    WindowCase<T> at(options, {.missing = true, .centre = true, .driven = true}, kSteps, kLanes,
                     17);
    Buffer<double> x(static_cast<std::size_t>(kSteps * options.state_dim * kLanes));
    StateWorkspace<T> workspace;
    workspace.prepare(at.model(), kSteps, kLanes, false);
    engine::window_forward(at.model(), at.group.view(), at.group.carry, {.x_filt = x.data()},
                           workspace);
    return x;
  };
  const Buffer<double> in_float = states(0.0F), in_double = states(0.0);
  double largest = 0;
  for (std::size_t i = 0; i < in_double.size(); ++i)
    largest = std::max(
        largest, std::abs(in_float[i] - in_double[i]) / std::max(1.0, std::abs(in_double[i])));
  return largest;
}

TEST(FilterStream, EqualsTheWindowInDouble) {
  test::for_each_isa([] {
    test::for_each_encoder([](nn::EncoderKind encoder) {
      expect_equal_to_window<double>(stream_options(3, 2, true, encoder), 1e-11);
      expect_equal_to_window<double>(stream_options(5, 1, false, encoder), 1e-11);
    });
  });
}

TEST(FilterStream, EqualsTheWindowInFloat) {
  test::for_each_isa([] {
    test::for_each_encoder([](nn::EncoderKind encoder) {
      // Sums in another order: the difference is no more than some roundings.
      for (const auto& [N, M] : {std::pair{3, 2}, {16, 1}}) {
        const ArchitectureOptions options = stream_options(N, M, true, encoder);
        expect_equal_to_window<float>(options, std::max(1e-4, 4 * rounding_of(options)));
      }
    });
  });
}

TEST(FilterStream, RefusesWhatCannotBeStreamed) {
  ArchitectureOptions two_sided = stream_options(3, 2, true);
  two_sided.two_sided = true;
  WindowCase<float> smoother(two_sided, {}, 4, 16, 1);
  EXPECT_THROW(StateStream<float>(smoother.model(), smoother.parameters.span()), ConfigError);

  WindowCase<float> filter(stream_options(3, 2, true), {}, 4, 16, 1);
  EXPECT_THROW(StateStream<float>(filter.model(), filter.parameters.span().first(5)), ConfigError);
  StateStream<float> stream(filter.model(), filter.parameters.span());
  StreamState<float> state = stream.start();
  const std::vector<double> y(3);
  EXPECT_THROW(stream.step(state, y), ConfigError);
}

}  // namespace
}  // namespace kalmia::heads
