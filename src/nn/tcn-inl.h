// One layer of a temporal convolutional network on panels and its adjoint, and one step of one
// sequence. See tcn.hpp for the equations.

#if defined(KALMIA_NN_TCN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_TCN_INL_H_
#undef KALMIA_NN_TCN_INL_H_
#else
#define KALMIA_NN_TCN_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "lanes/dense-inl.h"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/tcn.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

/// branch = tanh(A z_old + B z + b),   above = z + branch.
///
/// Shapes: all hidden x lanes. Cost: 4 hidden^2 FLOP and hidden activations a lane.
template <typename T>
HWY_INLINE void tcn_layer_forward(const typename PackedTcn<T>::Layer& layer, const T* z_old,
                                  const T* z, int lanes, T* branch, T* above) {
  product(layer.newer, z, lanes, Start::Bias, layer.bias.data(), branch);
  product(layer.older, z_old, lanes, Start::Accumulate, static_cast<const T*>(nullptr), branch);
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(layer.newer.rows) * lanes;
  for (std::ptrdiff_t i = 0; i < panel; i += kLineLanes<T>) {
    const Line<T> t = tanh(load(branch + i));
    store(t, branch + i);
    store(load(z + i) + t, above + i);
  }
}

/// Adjoint of `tcn_layer_forward`.
///
///   a = d_above (1 - branch^2),   d_z += d_above + B' a,   d_z_old += A' a
///
/// `branch` holds a afterwards, of which the weight gradients are made: d_A = a z_old', d_B = a z',
/// d_b = a.
template <typename T>
HWY_INLINE void tcn_layer_backward(const typename PackedTcn<T>::Layer& layer, const T* d_above,
                                   int lanes, T* branch, T* d_z_old, T* d_z) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(layer.newer.rows) * lanes;
  const Line<T> one = broadcast(T(1));
  for (std::ptrdiff_t i = 0; i < panel; i += kLineLanes<T>) {
    const Line<T> t = load(branch + i), d = load(d_above + i);
    store(d * fnma(t, t, one), branch + i);
    store(load(d_z + i) + d, d_z + i);
  }
  const auto* a = static_cast<const T*>(branch);
  product(layer.newer_T, a, lanes, Start::Accumulate, static_cast<const T*>(nullptr), d_z);
  product(layer.older_T, a, lanes, Start::Accumulate, static_cast<const T*>(nullptr), d_z_old);
}

/// h = tanh(z_depth) of one sequence, padded to whole lines; z of each layer becomes the newest
/// that it remembers.
template <typename T>
void stream_step(StreamedTcn<T>& net, const T* x, std::vector<T>& state, T* h) {
  const auto H = static_cast<std::size_t>(net.hidden);
  const int padded = net.embed.rows;
  matvec(net.embed, x, net.embed_bias.data(), h);
  T* oldest = state.data();
  for (std::size_t l = 0; l < net.layer.size(); ++l) {
    const auto& layer = net.layer[l];
    matvec(layer.newer, static_cast<const T*>(h), layer.bias.data(), net.sum.data());
    matvec(layer.older, static_cast<const T*>(oldest), net.sum.data(), net.more.data());
    T* end = oldest + (H << l);
    std::copy(oldest + H, end, oldest);
    std::copy_n(h, H, end - H);
    for (int u = 0; u < padded; u += kLineLanes<T>)
      store(load(h + u) + tanh(load(net.more.data() + u)), h + u);
    oldest = end;
  }
  for (int u = 0; u < padded; u += kLineLanes<T>) store(tanh(load(h + u)), h + u);
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
