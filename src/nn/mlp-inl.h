// An MLP on a panel and its adjoint. See mlp.hpp.

#if defined(KALMIA_NN_MLP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_MLP_INL_H_
#undef KALMIA_NN_MLP_INL_H_
#else
#define KALMIA_NN_MLP_INL_H_
#endif

#include "lanes/dense-inl.h"
#include "nn/mlp.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

/// out = MLP(in).
///
/// Shapes: in widths[0] x lanes; hidden: the outputs of the hidden layers below each other (the
/// tape, after ReLU); out widths.back() x lanes. Cost: 2 sum(in out) FLOP a lane.
template <typename T>
HWY_INLINE void mlp_forward(const PackedMlp<T>& mlp, const T* in, int lanes, T* hidden, T* out) {
  const std::size_t layers = mlp.forward.size();
  for (std::size_t i = 0; i < layers; ++i) {
    T* to = i + 1 < layers ? hidden : out;
    product(mlp.forward[i], in, lanes, Start::Bias, mlp.bias[i].data(), to);
    if (i + 1 == layers) return;
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(mlp.forward[i].rows) * lanes;
    for (std::ptrdiff_t at = 0; at < size; at += kLineLanes<T>)
      store(zero_if_negative(load(to + at)), to + at);
    in = to;
    hidden += size;
  }
}

/// Adjoint of `mlp_forward` for its input: d_in += (d out / d in)' d_out.
///
/// `hidden` is the tape; d_hidden (same shape) is set to the adjoints of the hidden layers before
/// their ReLU, from which the weight gradients are made: d_W[i] = d_layer[i] in[i]'.
template <typename T>
HWY_INLINE void mlp_backward(const PackedMlp<T>& mlp, const T* hidden, const T* d_out, int lanes,
                             T* d_hidden, T* d_in) {
  const Line<T> none = zero<T>();
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i + 1 < mlp.forward.size(); ++i) offset += mlp.forward[i].rows;
  const T* d_layer = d_out;
  for (std::size_t i = mlp.forward.size(); i-- > 1;) {
    offset -= mlp.forward[i - 1].rows;
    T* d_below = d_hidden + offset * lanes;
    const T* below = hidden + offset * lanes;
    product(mlp.transposed[i], d_layer, lanes, Start::Zero, static_cast<const T*>(nullptr),
            d_below);
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(mlp.forward[i - 1].rows) * lanes;
    for (std::ptrdiff_t at = 0; at < size; at += kLineLanes<T>)
      store(select(greater(load(below + at), none), load(d_below + at), none), d_below + at);
    d_layer = d_below;
  }
  product(mlp.transposed[0], d_layer, lanes, Start::Accumulate, static_cast<const T*>(nullptr),
          d_in);
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
