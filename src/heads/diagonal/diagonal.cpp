#define KALMIA_SIZES_UNKNOWN

#include "heads/diagonal/diagonal.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/diagonal/diagonal.cpp"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "heads/diagonal/diagonal_rows-inl.h"
#include "heads/direct/direct_transition-inl.h"
#include "heads/state_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

template <typename T>
struct DiagonalChoice {
  template <typename Task>
  static HWY_INLINE void with_line(const StateModel<T>&, const Task& task) {
    task(std::type_identity<StatePass<T, DirectTransition<T, DiagonalRows>>>());
  }
};

const StateKernels<float>& diagonal_float() {
  return StateKernelsOf<float, DiagonalChoice<float>>::get();
}
const StateKernels<double>& diagonal_double() {
  return StateKernelsOf<double, DiagonalChoice<double>>::get();
}

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::heads {

HWY_EXPORT(diagonal_float);
HWY_EXPORT(diagonal_double);

template <typename T>
const StateKernels<T>& diagonal_kernels(const StateModel<T>&) {
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(diagonal_float)();
  else
    return HWY_DYNAMIC_DISPATCH(diagonal_double)();
}

template const StateKernels<float>& diagonal_kernels<float>(const StateModel<float>&);
template const StateKernels<double>& diagonal_kernels<double>(const StateModel<double>&);

}  // namespace kalmia::heads
#endif
