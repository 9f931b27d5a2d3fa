#include "model/window_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/window_recursion.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "model/window_network-inl.h"
#include "model/window_recursion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

template <int kN, int kM, typename T>
void forward_turns(const WindowModel<T>& model, const WindowInput<T>& in, Carry<T>& carry,
                   const WindowMoments& moments, Workspace<T>& ws) {
  using Recursion = RecursionPass<T, kN, kM>;
  const NetworkPass<T> network{model, in, ws};
  network.begin_forward(carry.h.data());
  for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
    Recursion(model, in, ws, lane).begin_forward(carry.x.data(), carry.P.data());
  for (int begin = 0; begin < in.steps; begin += kTurnSteps) {
    const int end = std::min(in.steps, begin + kTurnSteps);
    network.forward(begin, end);
    for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
      Recursion(model, in, ws, lane).forward(begin, end, moments);
  }
  network.end_forward(carry.h.data());
  for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
    Recursion(model, in, ws, lane).end_forward(carry.x.data(), carry.P.data());
}

template <typename T>
void forward_here(const WindowModel<T>& model, const WindowInput<T>& in, Carry<T>& carry,
                  const WindowMoments& moments, Workspace<T>& ws) {
  with_sizes<T>(*model.architecture, [&](auto N, auto M) HWY_ATTR {
    forward_turns<decltype(N)::value, decltype(M)::value>(model, in, carry, moments, ws);
  });
}

template <int kN, int kM, typename T>
void backward_turns(const WindowModel<T>& model, const WindowInput<T>& in, double scale,
                    Workspace<T>& ws) {
  using Recursion = RecursionPass<T, kN, kM>;
  const NetworkPass<T> network{model, in, ws};
  for (int chunk_end = in.steps; chunk_end > 0;) {
    const int chunk_begin = (chunk_end - 1) / kChunkSteps * kChunkSteps;
    for (int end = chunk_end; end > chunk_begin;) {
      const int begin = (end - 1) / kTurnSteps * kTurnSteps;
      for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
        Recursion(model, in, ws, lane).backward(begin, end, scale);
      network.backward(begin, end, chunk_begin);
      end = begin;
    }
    network.gradients(chunk_begin, chunk_end);
    chunk_end = chunk_begin;
  }
  for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
    Recursion(model, in, ws, lane).end_backward();
  network.end_backward();
}

template <typename T>
void backward_here(const WindowModel<T>& model, const WindowInput<T>& in, double scale,
                   Workspace<T>& ws) {
  with_sizes<T>(*model.architecture, [&](auto N, auto M) HWY_ATTR {
    backward_turns<decltype(N)::value, decltype(M)::value>(model, in, scale, ws);
  });
}

void forward_float(const WindowModel<float>& model, const WindowInput<float>& in,
                   Carry<float>& carry, const WindowMoments& moments, Workspace<float>& ws) {
  forward_here(model, in, carry, moments, ws);
}
void forward_double(const WindowModel<double>& model, const WindowInput<double>& in,
                    Carry<double>& carry, const WindowMoments& moments, Workspace<double>& ws) {
  forward_here(model, in, carry, moments, ws);
}
void backward_float(const WindowModel<float>& model, const WindowInput<float>& in, double scale,
                    Workspace<float>& ws) {
  backward_here(model, in, scale, ws);
}
void backward_double(const WindowModel<double>& model, const WindowInput<double>& in, double scale,
                     Workspace<double>& ws) {
  backward_here(model, in, scale, ws);
}
void clear_failed_float(const WindowModel<float>& model, const WindowInput<float>& in,
                        Workspace<float>& ws) {
  NetworkPass<float>{model, in, ws}.clear_failed_lanes();
}
void clear_failed_double(const WindowModel<double>& model, const WindowInput<double>& in,
                         Workspace<double>& ws) {
  NetworkPass<double>{model, in, ws}.clear_failed_lanes();
}

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::model {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);
HWY_EXPORT(clear_failed_float);
HWY_EXPORT(clear_failed_double);

template <typename T>
void recursion_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                       const WindowMoments& moments, Workspace<T>& workspace) {
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(forward_float)(model, input, carry, moments, workspace);
  else
    HWY_DYNAMIC_DISPATCH(forward_double)(model, input, carry, moments, workspace);
}

template <typename T>
void recursion_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                        Workspace<T>& workspace) {
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(backward_float)(model, input, scale, workspace);
  else
    HWY_DYNAMIC_DISPATCH(backward_double)(model, input, scale, workspace);
}

template <typename T>
void clear_failed_lanes(const WindowModel<T>& model, const WindowInput<T>& input,
                        Workspace<T>& workspace) {
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(clear_failed_float)(model, input, workspace);
  else
    HWY_DYNAMIC_DISPATCH(clear_failed_double)(model, input, workspace);
}

#define KALMIA_INSTANTIATE(T)                                                                 \
  template void recursion_forward<T>(const WindowModel<T>&, const WindowInput<T>&, Carry<T>&, \
                                     const WindowMoments&, Workspace<T>&);                    \
  template void recursion_backward<T>(const WindowModel<T>&, const WindowInput<T>&, double,   \
                                      Workspace<T>&);                                         \
  template void clear_failed_lanes<T>(const WindowModel<T>&, const WindowInput<T>&, Workspace<T>&);
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::model
#endif
