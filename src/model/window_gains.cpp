#include "model/window_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/window_gains.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "lanes/math-inl.h"
#include "model/window_network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

/// Gains g = sigmoid(out + offset), each scored by square g^2 - 2 product g: of all numbers that a
/// gain may multiply, and all that the product should be near, this is the squared distance, less
/// what does not depend on the gain. Holds no data of its own.
template <typename T>
struct GainPass {
  const WindowModel<T>& model;
  const WindowInput<T>& in;
  Workspace<T>& ws;
  const RecordRows rows{*model.architecture, ws.training};
  static constexpr int kLanes = kLineLanes<T>;

  std::ptrdiff_t panel(int count) const { return static_cast<std::ptrdiff_t>(count) * in.lanes; }
  int gains() const { return model.architecture->options.gains; }
  /// Where the decoder's output of step k lies.
  T* out(int k) const { return ws.records.data() + k * panel(rows.total) + panel(rows.out); }

  void forward(const WindowMoments& moments) const {
    std::fill_n(ws.lane_nll.data(), in.lanes, 0.0);
    std::fill_n(ws.failed_step.data(), in.lanes, -1);
    std::fill_n(ws.failed_covariance.data(), in.lanes, std::uint8_t{0});
    for (int k = 0; k < in.steps; ++k)
      for (int lane = 0; lane < in.lanes; lane += kLanes) forward_line(k, lane, moments);
  }

  /// Leaves the adjoints of scale * (sum of scores) in the place of the decoder's output.
  void backward(double scale) const {
    for (int k = 0; k < in.steps; ++k)
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
          // Not by a product with 0: a lane that is left out may hold anything.
          store(select(nonzero(twice),
                       twice * slope * (load(in.gain_square + at) * g - load(in.gain_product + at)),
                       zero<T>()),
                place);
        }
      }
  }

 private:
  bool counts(int k, int lane) const { return k < lane_length(in, lane); }
  Line<T> gain(const T* place, std::ptrdiff_t at) const {
    return sigmoid(load(place) + load(in.gain_offset + at));
  }

  void forward_line(int k, int lane, const WindowMoments& moments) const {
    Line<T> score = zero<T>();
    for (int f = 0; f < gains(); ++f) {
      const std::ptrdiff_t at = k * panel(gains()) + panel(f) + lane;
      const Line<T> g = gain(out(k) + panel(f) + lane, at);
      const Line<T> product = load(in.gain_product + at);
      score = score + g * (load(in.gain_square + at) * g - (product + product));
      if (moments.gain == nullptr) continue;
      alignas(kLineBytes) T numbers[kLanes];
      store(g, numbers);
      std::copy_n(numbers, kLanes, moments.gain + at);
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
void gains_forward_here(const WindowModel<T>& model, const WindowInput<T>& in, Carry<T>& carry,
                        const WindowMoments& moments, Workspace<T>& ws) {
  const NetworkPass<T> network{model, in, ws};
  network.begin_forward(carry.h.data());
  network.forward(0, in.steps);
  network.end_forward(carry.h.data());
  GainPass<T>{model, in, ws}.forward(moments);
}

template <typename T>
void gains_backward_here(const WindowModel<T>& model, const WindowInput<T>& in, double scale,
                         Workspace<T>& ws) {
  GainPass<T>{model, in, ws}.backward(scale);
  NetworkPass<T>{model, in, ws}.whole_backward();
}

void gains_forward_float(const WindowModel<float>& model, const WindowInput<float>& in,
                         Carry<float>& carry, const WindowMoments& moments, Workspace<float>& ws) {
  gains_forward_here(model, in, carry, moments, ws);
}
void gains_forward_double(const WindowModel<double>& model, const WindowInput<double>& in,
                          Carry<double>& carry, const WindowMoments& moments,
                          Workspace<double>& ws) {
  gains_forward_here(model, in, carry, moments, ws);
}
void gains_backward_float(const WindowModel<float>& model, const WindowInput<float>& in,
                          double scale, Workspace<float>& ws) {
  gains_backward_here(model, in, scale, ws);
}
void gains_backward_double(const WindowModel<double>& model, const WindowInput<double>& in,
                           double scale, Workspace<double>& ws) {
  gains_backward_here(model, in, scale, ws);
}

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::model {

HWY_EXPORT(gains_forward_float);
HWY_EXPORT(gains_forward_double);
HWY_EXPORT(gains_backward_float);
HWY_EXPORT(gains_backward_double);

template <>
void gains_forward<float>(const WindowModel<float>& model, const WindowInput<float>& input,
                          Carry<float>& carry, const WindowMoments& moments,
                          Workspace<float>& workspace) {
  HWY_DYNAMIC_DISPATCH(gains_forward_float)(model, input, carry, moments, workspace);
}
template <>
void gains_forward<double>(const WindowModel<double>& model, const WindowInput<double>& input,
                           Carry<double>& carry, const WindowMoments& moments,
                           Workspace<double>& workspace) {
  HWY_DYNAMIC_DISPATCH(gains_forward_double)(model, input, carry, moments, workspace);
}
template <>
void gains_backward<float>(const WindowModel<float>& model, const WindowInput<float>& input,
                           double scale, Workspace<float>& workspace) {
  HWY_DYNAMIC_DISPATCH(gains_backward_float)(model, input, scale, workspace);
}
template <>
void gains_backward<double>(const WindowModel<double>& model, const WindowInput<double>& input,
                            double scale, Workspace<double>& workspace) {
  HWY_DYNAMIC_DISPATCH(gains_backward_double)(model, input, scale, workspace);
}

}  // namespace kalmia::model
#endif
