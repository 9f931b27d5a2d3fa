#define KALMIA_SIZES_UNKNOWN

#include "heads/direct/direct.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/direct/direct.cpp"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "heads/direct/direct_transition-inl.h"
#include "heads/state_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

template <typename T>
struct DirectChoice {
  template <typename Task>
  static HWY_INLINE void with_line(const StateModel<T>&, const Task& task) {
    task(std::type_identity<StatePass<T, DirectTransition<T, TriangleRows>>>());
  }
};

const StateKernels<float>& direct_float() {
  return StateKernelsOf<float, DirectChoice<float>>::get();
}
const StateKernels<double>& direct_double() {
  return StateKernelsOf<double, DirectChoice<double>>::get();
}

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::heads {

HWY_EXPORT(direct_float);
HWY_EXPORT(direct_double);

template <typename T>
const StateKernels<T>& direct_kernels(const StateModel<T>&) {
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(direct_float)();
  else
    return HWY_DYNAMIC_DISPATCH(direct_double)();
}

template <typename T>
int direct_lines(const StateModel<T>& model) {
  return lanes::count_lines<DirectLines>(model.architecture->state_dim(), model.map_inputs());
}

template const StateKernels<float>& direct_kernels<float>(const StateModel<float>&);
template const StateKernels<double>& direct_kernels<double>(const StateModel<double>&);
template int direct_lines<float>(const StateModel<float>&);
template int direct_lines<double>(const StateModel<double>&);

}  // namespace kalmia::heads
#endif
