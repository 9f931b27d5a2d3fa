// One step of a causal convolution on a panel and its adjoint. See conv.hpp.

#if defined(KALMIA_NN_CONV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_CONV_INL_H_
#undef KALMIA_NN_CONV_INL_H_
#else
#define KALMIA_NN_CONV_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "lanes/dense-inl.h"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/conv.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

/// h = tanh(W x + b), where x is the last `taps` inputs below each other, oldest first.
///
/// Shapes: x (taps input) x lanes; h hidden x lanes. Cost: 2 hidden taps input FLOP and hidden
/// activations a lane.
template <typename T>
HWY_INLINE void conv_forward(const PackedConv<T>& conv, const T* x, int lanes, T* h) {
  product(conv.forward, x, lanes, Start::Bias, conv.bias.data(), h);
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(conv.forward.rows) * lanes;
  for (std::ptrdiff_t at = 0; at < panel; at += kLineLanes<T>) store(tanh(load(h + at)), h + at);
}

/// Adjoint of `conv_forward`.
///
///   a = d_h (1 - h^2),   d_x += W' a
///
/// Sets `a` (hidden x lanes), from which the weight gradients are made: d_W = a x', d_b = a. d_x is
/// left out if it is null.
template <typename T>
HWY_INLINE void conv_backward(const PackedConv<T>& conv, const T* HWY_RESTRICT h,
                              const T* HWY_RESTRICT d_h, int lanes, T* HWY_RESTRICT a, T* d_x) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(conv.forward.rows) * lanes;
  const Line<T> one = broadcast(T(1));
  for (std::ptrdiff_t at = 0; at < panel; at += kLineLanes<T>) {
    const Line<T> value = load(h + at);
    store(load(d_h + at) * fnma(value, value, one), a + at);
  }
  if (d_x == nullptr) return;
  product(conv.transposed, static_cast<const T*>(a), lanes, Start::Accumulate,
          static_cast<const T*>(nullptr), d_x);
}

/// h = tanh(W [state; x] + b) of one sequence, padded to whole lines; x becomes the newest input of
/// the state.
template <typename T>
void stream_step(StreamedConv<T>& conv, const T* x, std::vector<T>& state, T* h) {
  const std::size_t inputs = conv.inputs.size() - state.size();
  std::copy(state.begin(), state.end(), conv.inputs.data());
  std::copy_n(x, inputs, conv.inputs.data() + state.size());
  matvec(conv.weight, static_cast<const T*>(conv.inputs.data()), conv.bias.data(), h);
  for (int u = 0; u < conv.weight.rows; u += kLineLanes<T>) store(tanh(load(h + u)), h + u);
  std::copy_n(conv.inputs.data() + inputs, state.size(), state.data());
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
