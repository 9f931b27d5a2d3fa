#define KALMIA_SIZES_UNKNOWN

#include "heads/fusion/fusion.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/fusion/fusion.cpp"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "engine/window-inl.h"
#include "heads/fusion/fusion_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

template <typename T>
struct FusionChoice {
  template <typename Task>
  static HWY_INLINE void with_pass(const FusionModel<T>&, const Task& task) {
    task(std::type_identity<engine::HWY_NAMESPACE::EachLine<FusionHead<T>, FusionPass<T>>>());
  }
};

const engine::WindowKernels<FusionHead<float>>& fusion_float() {
  return engine::HWY_NAMESPACE::window_kernels<FusionHead<float>, FusionChoice<float>>();
}
const engine::WindowKernels<FusionHead<double>>& fusion_double() {
  return engine::HWY_NAMESPACE::window_kernels<FusionHead<double>, FusionChoice<double>>();
}

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <string>

#include "kalmia/error.hpp"
#include "lanes/scratch.hpp"

namespace kalmia::heads {

HWY_EXPORT(fusion_float);
HWY_EXPORT(fusion_double);

namespace {

constexpr int kLineLanes = lanes::kLineLanes<double>;

std::size_t volume(int steps, int rows, int lanes) {
  return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
         static_cast<std::size_t>(lanes);
}

}  // namespace

template <typename T>
void FusionHead<T>::check(const Model& model, const Input& in) {
  const Architecture& arch = *model.architecture;
  if (arch.options.head != HeadKind::Fusion)
    throw ConfigError("window: the networks describe states, not what the future adds to them");
  if (model.emission->state_dim() != arch.state_dim() ||
      model.emission->meas_dim() != arch.meas_dim())
    throw ConfigError("window: H is " + std::to_string(model.emission->meas_dim()) + " x " +
                      std::to_string(model.emission->state_dim()) + ", but the model needs " +
                      std::to_string(arch.meas_dim()) + " x " + std::to_string(arch.state_dim()));
  if (in.steps > 0 && (in.prior_x == nullptr || in.prior_P == nullptr))
    throw ConfigError(
        "window: fusion needs prior_x and prior_P, the moments it adds the future to");
}

template <typename T>
const engine::WindowKernels<FusionHead<T>>& FusionHead<T>::kernels(const Model&) {
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(fusion_float)();
  else
    return HWY_DYNAMIC_DISPATCH(fusion_double)();
}

template <typename T>
FusionInput<T> FusionHead<T>::from(const Model& model, Input input, int begin) {
  const Architecture& arch = *model.architecture;
  const auto skip = [&](auto& panel, int rows) {
    if (panel != nullptr) panel += static_cast<std::ptrdiff_t>(begin) * rows * input.lanes;
  };
  const int N = arch.state_dim(), M = arch.meas_dim();
  skip(input.input_fwd, arch.options.input_dim);
  for (const double** panel : {&input.y, &input.observed, &input.weight}) skip(*panel, M);
  for (const double** panel : {&input.centre, &input.prior_x}) skip(*panel, N);
  skip(input.prior_P, N * N);
  return input;
}

template <typename T>
void FusionCarry<T>::resize(const Architecture& architecture, int lanes) {
  this->h.resize(volume(1, architecture.encoder_state_rows(), lanes));
}

template <typename T>
void FusionWorkspace<T>::prepare(const FusionModel<T>& model, int steps, int lanes,
                                 bool for_training) {
  const Architecture& arch = *model.architecture;
  engine::NetworkWorkspace<T>::prepare(arch, steps, lanes, for_training);
  line_scratch.resize(volume(1,
                             lanes::count_lines<FusionLines>(arch.state_dim(), arch.meas_dim(),
                                                             fusion_zeros(model), model.parameters),
                             kLineLanes));
  map_scratch.resize(model.emission_map == nullptr ? 0 : model.emission_map->scratch_size());
}

template <typename T>
void FusionGroup<T>::resize(const Architecture& architecture, int num_steps, int num_lanes) {
  steps = num_steps;
  lanes = num_lanes;
  input_fwd.resize(volume(steps, architecture.options.input_dim, lanes));
  y.resize(volume(steps, architecture.meas_dim(), lanes));
  carry.resize(architecture, lanes);
}

template <typename T>
FusionInput<T> FusionGroup<T>::view() const {
  FusionInput<T> input;
  input.steps = steps;
  input.lanes = lanes;
  input.input_fwd = input_fwd.data();
  input.y = y.data();
  input.observed = observed.data();
  input.weight = weight.data();
  input.centre = centre.data();
  input.prior_x = prior_x.data();
  input.prior_P = prior_P.data();
  input.length = length.empty() ? nullptr : length.data();
  input.fresh = fresh.empty() ? nullptr : fresh.data();
  return input;
}

#define KALMIA_INSTANTIATE(T)         \
  template struct FusionHead<T>;      \
  template struct FusionCarry<T>;     \
  template struct FusionWorkspace<T>; \
  template struct FusionGroup<T>;
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::heads
#endif
