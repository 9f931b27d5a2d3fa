#include "audio/gain_head.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "audio/gain_head.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/window-inl.h"
#include "lanes/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::audio::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines of this instruction set
using lanes::kLineLanes;

/// All lanes of a window. Holds no data of its own.
template <typename T>
struct GainPass {
  const GainWindow<T>& model;
  const GainInput<T>& in;
  GainWorkspace<T>& ws;
  const engine::RecordRows rows;
  static constexpr int kLanes = kLineLanes<T>;

  GainPass(const GainWindow<T>& window, const GainInput<T>& input, GainWorkspace<T>& workspace)
      : model(window), in(input), ws(workspace), rows(*model.architecture, ws.training) {}

  std::ptrdiff_t panel(int count) const { return static_cast<std::ptrdiff_t>(count) * in.lanes; }
  int gains() const { return model.architecture->output_rows(); }
  /// Where the decoder's output of step k lies.
  T* out(int k) const { return ws.records.data() + k * panel(rows.total) + panel(rows.out); }

  void begin_forward(const GainCarry<T>&) const {
    std::fill_n(ws.lane_nll.data(), in.lanes, 0.0);
    std::fill_n(ws.failed_step.data(), in.lanes, -1);
    std::fill_n(ws.failed_covariance.data(), in.lanes, std::uint8_t{0});
  }
  void forward(int begin, int end, const GainResults& results) const {
    for (int k = begin; k < end; ++k)
      for (int lane = 0; lane < in.lanes; lane += kLanes) forward_line(k, lane, results);
  }
  void end_forward(GainCarry<T>&) const {}
  void end_backward() const {}

  /// Leaves the adjoints of scale * (sum of scores) in the place of the decoder's output.
  void backward(int begin, int end, double scale) const {
    for (int k = begin; k < end; ++k)
      for (int lane = 0; lane < in.lanes; lane += kLanes) {
        alignas(kLineBytes) T counted[kLanes];
        for (int b = 0; b < kLanes; ++b)
          counted[b] = counts(k, lane + b) && ws.lane_ok[static_cast<std::size_t>(lane + b)] != 0
                           ? static_cast<T>(2 * scale)
                           : T(0);
        const Line<T> twice = load(counted);
        for (int f = 0; f < gains(); ++f) {
          T* place = out(k) + panel(f) + lane;
          const std::ptrdiff_t at = k * panel(gains()) + panel(f) + lane;
          const Line<T> g = gain(place, at);
          const Line<T> slope = g * (broadcast(T(1)) - g);
          // A product with 0 would not do: a lane that is left out may hold anything.
          store(
              select(nonzero(twice),
                     twice * slope * (load(in.square + at) * g - load(in.product + at)), zero<T>()),
              place);
        }
      }
  }

 private:
  bool counts(int k, int lane) const { return k < in.lane_length(lane); }
  Line<T> gain(const T* place, std::ptrdiff_t at) const {
    return sigmoid(load(place) + load(in.offset + at));
  }

  void forward_line(int k, int lane, const GainResults& results) const {
    Line<T> score = zero<T>();
    for (int f = 0; f < gains(); ++f) {
      const std::ptrdiff_t at = k * panel(gains()) + panel(f) + lane;
      const Line<T> g = gain(out(k) + panel(f) + lane, at);
      const Line<T> product = load(in.product + at);
      score = score + g * (load(in.square + at) * g - (product + product));
      if (results.gain == nullptr) continue;
      alignas(kLineBytes) T numbers[kLanes];
      store(g, numbers);
      std::copy_n(numbers, kLanes, results.gain + at);
    }
    alignas(kLineBytes) T scores[kLanes];
    store(score, scores);
    for (int b = 0; b < kLanes; ++b) {
      const auto own = static_cast<std::size_t>(lane + b);
      if (!counts(k, lane + b)) continue;
      ws.lane_nll[own] += static_cast<double>(scores[b]);
      if (!std::isfinite(scores[b]) && ws.failed_step[own] < 0) ws.failed_step[own] = k;
    }
  }
};

template <typename T>
struct GainChoice {
  template <typename Task>
  static HWY_INLINE void with_pass(const GainWindow<T>&, const Task& task) {
    task(std::type_identity<GainPass<T>>());
  }
};

const engine::WindowKernels<GainHead<float>>& gains_float() {
  return engine::HWY_NAMESPACE::window_kernels<GainHead<float>, GainChoice<float>>();
}
const engine::WindowKernels<GainHead<double>>& gains_double() {
  return engine::HWY_NAMESPACE::window_kernels<GainHead<double>, GainChoice<double>>();
}

}  // namespace kalmia::audio::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kalmia/error.hpp"

namespace kalmia::audio {

HWY_EXPORT(gains_float);
HWY_EXPORT(gains_double);

template <typename T>
void GainHead<T>::check(const Model&, const Input& in) {
  if (in.steps > 0 && (in.offset == nullptr || in.square == nullptr || in.product == nullptr))
    throw ConfigError("window: gains need offset, square and product");
}

template <typename T>
const engine::WindowKernels<GainHead<T>>& GainHead<T>::kernels(const Model&) {
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(gains_float)();
  else
    return HWY_DYNAMIC_DISPATCH(gains_double)();
}

template <typename T>
void GainGroup<T>::resize(const engine::NetworkLayout& layout, int num_steps, int num_lanes) {
  steps = num_steps;
  lanes = num_lanes;
  const auto volume = [&](int rows) {
    return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(lanes);
  };
  input_fwd.resize(volume(layout.networks.input_dim));
  if (layout.networks.two_sided) input_bwd.resize(volume(layout.networks.input_dim));
  for (Buffer<T>* each : {&offset, &square, &product}) each->resize(volume(layout.output_rows()));
  carry.h.resize(static_cast<std::size_t>(layout.encoder_state_rows()) *
                 static_cast<std::size_t>(lanes));
}

template <typename T>
GainInput<T> GainGroup<T>::view() const {
  GainInput<T> input;
  input.steps = steps;
  input.lanes = lanes;
  input.input_fwd = input_fwd.data();
  input.input_bwd = input_bwd.data();
  input.offset = offset.data();
  input.square = square.data();
  input.product = product.data();
  input.length = length.empty() ? nullptr : length.data();
  return input;
}

#define KALMIA_INSTANTIATE(T)  \
  template struct GainHead<T>; \
  template struct GainGroup<T>;
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::audio
#endif
