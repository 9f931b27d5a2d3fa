#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/network_pass.cpp"
#include <hwy/foreach_target.h>

#include "engine/network_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

// Every kind's pass is compiled in a source of its own.
template <typename T, typename Layouts>
struct DeclaredFor;
template <typename T, typename... Layouts>
struct DeclaredFor<T, std::variant<Layouts...>> {
  static const PassKernels<T>& of(const NetworkLayout& layout) {
    static constexpr const PassKernels<T>& (*kEach[])() = {&pass_kernels<T, Layouts>...};
    return kEach[layout.encoder_fwd.index()]();
  }
};

template <typename T>
const PassKernels<T>& kernels_of(const NetworkLayout& layout) {
  return DeclaredFor<T, nn::EncoderLayout>::of(layout);
}

template <typename T>
void NetworkPass<T>::begin_forward(const T* carry_h) const {
  kernels_of<T>(layout).begin_forward(*this, carry_h);
}
template <typename T>
void NetworkPass<T>::forward(int begin, int end) const {
  kernels_of<T>(layout).forward(*this, begin, end);
}
template <typename T>
void NetworkPass<T>::end_forward(T* carry_h) const {
  kernels_of<T>(layout).end_forward(*this, carry_h);
}
template <typename T>
void NetworkPass<T>::clear_failed_lanes() const {
  kernels_of<T>(layout).clear_failed_lanes(*this);
}
template <typename T>
void NetworkPass<T>::backward(int begin, int end, int chunk_begin) const {
  kernels_of<T>(layout).backward(*this, begin, end, chunk_begin);
}
template <typename T>
void NetworkPass<T>::gradients(int begin, int end) const {
  kernels_of<T>(layout).gradients(*this, begin, end);
}
template <typename T>
void NetworkPass<T>::end_backward() const {
  kernels_of<T>(layout).end_backward(*this);
}

template struct NetworkPass<float>;
template struct NetworkPass<double>;

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
