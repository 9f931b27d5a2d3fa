// A causal convolution over the last `taps` inputs: shapes, parameters and their packed form. The
// arithmetic is in conv-inl.h.
//
//   h[k] = tanh(W_0 x[k] + W_1 x[k-1] + ... + W_(taps-1) x[k-taps+1] + b)
//
// The matrices lie beside each other, the oldest input's first: W = [W_(taps-1) ... W_1 W_0]. That
// is the order of PyTorch's Conv1d with taps - 1 zeros put before the inputs; its weight (hidden,
// input, taps), permuted to (hidden, taps, input), is ours.
#pragma once

#include <string>

#include "lanes/dense.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

/// Sizes of a convolution and where its parameters lie in the block.
struct ConvLayout {
  int input = 0;
  int hidden = 0;
  int taps = 0;
  std::ptrdiff_t weight = 0;  ///< hidden x (taps input)
  std::ptrdiff_t bias = 0;    ///< hidden

  /// Adds the two parameters, named `prefix`.weight and `prefix`.bias.
  static ConvLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                           int hidden, int taps);
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedConv {
  lanes::PackedMatrix<T> forward;     ///< W
  lanes::PackedMatrix<T> transposed;  ///< W'
  Buffer<T> bias;

  /// Packs the convolution at `layout` in `parameters`. Allocates on the first call only.
  void pack(const ConvLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
