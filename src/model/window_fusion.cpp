#include "model/window_parts.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/window_fusion.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "model/window_fusion-inl.h"
#include "model/window_network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

template <typename T>
void fusion_forward_here(const WindowModel<T>& model, const WindowInput<T>& in, Carry<T>& carry,
                         const WindowMoments& moments, Workspace<T>& ws) {
  const NetworkPass<T> network{model, in, ws};
  network.begin_forward(carry.h.data());
  network.forward(0, in.steps);
  network.end_forward(carry.h.data());
  for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>) {
    FusionPass<T> pass(model, in, ws, lane);
    pass.begin_forward();
    pass.forward(0, in.steps, moments);
  }
}

template <typename T>
void fusion_backward_here(const WindowModel<T>& model, const WindowInput<T>& in, double scale,
                          Workspace<T>& ws) {
  for (int lane = 0; lane < in.lanes; lane += kLineLanes<double>)
    FusionPass<T>(model, in, ws, lane).backward(0, in.steps, scale);
  NetworkPass<T>{model, in, ws}.whole_backward();
}

void fusion_forward_float(const WindowModel<float>& model, const WindowInput<float>& in,
                          Carry<float>& carry, const WindowMoments& moments, Workspace<float>& ws) {
  fusion_forward_here(model, in, carry, moments, ws);
}
void fusion_forward_double(const WindowModel<double>& model, const WindowInput<double>& in,
                           Carry<double>& carry, const WindowMoments& moments,
                           Workspace<double>& ws) {
  fusion_forward_here(model, in, carry, moments, ws);
}
void fusion_backward_float(const WindowModel<float>& model, const WindowInput<float>& in,
                           double scale, Workspace<float>& ws) {
  fusion_backward_here(model, in, scale, ws);
}
void fusion_backward_double(const WindowModel<double>& model, const WindowInput<double>& in,
                            double scale, Workspace<double>& ws) {
  fusion_backward_here(model, in, scale, ws);
}

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::model {

HWY_EXPORT(fusion_forward_float);
HWY_EXPORT(fusion_forward_double);
HWY_EXPORT(fusion_backward_float);
HWY_EXPORT(fusion_backward_double);

template <>
void fusion_forward<float>(const WindowModel<float>& model, const WindowInput<float>& input,
                           Carry<float>& carry, const WindowMoments& moments,
                           Workspace<float>& workspace) {
  HWY_DYNAMIC_DISPATCH(fusion_forward_float)(model, input, carry, moments, workspace);
}
template <>
void fusion_forward<double>(const WindowModel<double>& model, const WindowInput<double>& input,
                            Carry<double>& carry, const WindowMoments& moments,
                            Workspace<double>& workspace) {
  HWY_DYNAMIC_DISPATCH(fusion_forward_double)(model, input, carry, moments, workspace);
}
template <>
void fusion_backward<float>(const WindowModel<float>& model, const WindowInput<float>& input,
                            double scale, Workspace<float>& workspace) {
  HWY_DYNAMIC_DISPATCH(fusion_backward_float)(model, input, scale, workspace);
}
template <>
void fusion_backward<double>(const WindowModel<double>& model, const WindowInput<double>& input,
                             double scale, Workspace<double>& workspace) {
  HWY_DYNAMIC_DISPATCH(fusion_backward_double)(model, input, scale, workspace);
}

}  // namespace kalmia::model
#endif
