#define KALMIA_SIZES_UNKNOWN

#include "heads/recursion/recursion.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/recursion/recursion.cpp"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "heads/recursion/transition-inl.h"
#include "heads/state_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

template <typename T>
struct RecursionChoice {
  template <typename Task>
  static HWY_INLINE void with_line(const StateModel<T>&, const Task& task) {
    task(std::type_identity<StatePass<T, Transition<T, 0>>>());
  }
};

const StateKernels<float>& recursion_float() {
  return StateKernelsOf<float, RecursionChoice<float>>::get();
}
const StateKernels<double>& recursion_double() {
  return StateKernelsOf<double, RecursionChoice<double>>::get();
}

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::heads {

HWY_EXPORT(recursion_float);
HWY_EXPORT(recursion_double);

template <typename T>
const StateKernels<T>& recursion_kernels(const StateModel<T>& model) {
  const Architecture& architecture = *model.architecture;
  if (const auto* sized =
          sized_recursion_kernels<T>(architecture.state_dim(), architecture.meas_dim()))
    return *sized;
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(recursion_float)();
  else
    return HWY_DYNAMIC_DISPATCH(recursion_double)();
}

template <typename T>
int recursion_lines(const StateModel<T>& model) {
  const ArchitectureOptions& options = model.architecture->options;
  int lines = lanes::count_lines<TransitionLines>(options.state_dim, model.map_inputs(),
                                                  model.map_parameters());
  if (options.posterior == PosteriorRule::Alternative)
    lines += lanes::kGuardLines +
             lanes::count_lines<AlternativeLines>(options.state_dim, options.meas_dim);
  return lines;
}

template const StateKernels<float>& recursion_kernels<float>(const StateModel<float>&);
template const StateKernels<double>& recursion_kernels<double>(const StateModel<double>&);
template int recursion_lines<float>(const StateModel<float>&);
template int recursion_lines<double>(const StateModel<double>&);

}  // namespace kalmia::heads
#endif
