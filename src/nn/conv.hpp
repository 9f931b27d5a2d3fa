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
#include "lanes/matvec.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

template <typename T>
struct PackedConv;
template <typename T>
struct StreamedConv;

/// Sizes of a convolution and where its parameters lie in the block.
struct ConvLayout {
  static constexpr std::string_view kName = "conv";
  static constexpr std::string_view kMeaning = "a causal convolution over the last taps steps";
  static constexpr bool kReadsTaps = true;
  template <typename T>
  using Packed = PackedConv<T>;
  template <typename T>
  using Streamed = StreamedConv<T>;

  int input = 0;
  int hidden = 0;
  int taps = 0;
  std::ptrdiff_t weight = 0;  ///< hidden x (taps input)
  std::ptrdiff_t bias = 0;    ///< hidden

  /// Adds the two parameters, named `prefix`.weight and `prefix`.bias.
  static ConvLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                           int hidden, int taps);

  /// State: the last taps - 1 inputs, oldest first. Tape: the adjoint of the sum in tanh.
  EncoderRows rows() const { return {(taps - 1) * input, hidden, hidden, 0}; }
  /// The inputs of a window and those before it, in each direction, and the adjoints of the latter
  /// beside those that are read with them.
  std::ptrdiff_t scratch_rows(const WindowShape& window) const {
    const std::ptrdiff_t state = rows().state;
    return (state + static_cast<std::ptrdiff_t>(window.steps) * input) * window.directions +
           (window.training ? 2 * state : 0);
  }
  double flops() const { return 2.0 * hidden * taps * input; }
  double first_value(const ParameterView&, std::ptrdiff_t, RandomStream& random) const {
    return within_fan_in(static_cast<double>(taps) * input, random);
  }
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

/// The weights by columns, and scratch: what one sequence needs, step by step.
template <typename T>
struct StreamedConv {
  lanes::ColumnMatrix<T> weight;
  Buffer<T> bias;
  Buffer<T> inputs;  ///< the last `taps`, oldest first

  /// Takes the convolution at `layout` in `parameters`.
  void assign(const ConvLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
