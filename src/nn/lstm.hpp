// Long short-term memory: shapes, parameters and their packed form. The arithmetic is in
// lstm-inl.h.
//
//   i  = sigmoid(W_ii x + b_ii + W_hi h + b_hi)
//   f  = sigmoid(W_if x + b_if + W_hf h + b_hf)
//   g  = tanh   (W_ig x + b_ig + W_hg h + b_hg)
//   o  = sigmoid(W_io x + b_io + W_ho h + b_ho)
//   c' = f c + i g
//   h' = o tanh(c')
//
// These are PyTorch's equations and its parameter shapes, so weights can be exchanged.
#pragma once

#include <string>

#include "lanes/dense.hpp"
#include "lanes/matvec.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/parameters.hpp"
#include "nn/streamed_gates.hpp"

namespace kalmia::nn {

template <typename T>
struct PackedLstm;
template <typename T>
struct StreamedLstm;

/// Sizes of an LSTM and where its parameters lie in the block.
struct LstmLayout {
  static constexpr std::string_view kName = "lstm";
  static constexpr std::string_view kMeaning = "";
  static constexpr bool kReadsTaps = false;
  template <typename T>
  using Packed = PackedLstm<T>;
  template <typename T>
  using Streamed = StreamedLstm<T>;

  int input = 0;
  int hidden = 0;
  std::ptrdiff_t weight_ih = 0;  ///< 4 hidden x input, gates in the order i, f, g, o
  std::ptrdiff_t weight_hh = 0;  ///< 4 hidden x hidden
  std::ptrdiff_t bias_ih = 0;    ///< 4 hidden
  std::ptrdiff_t bias_hh = 0;    ///< 4 hidden

  /// Adds the four parameters, named `prefix`.weight_ih and so on.
  static LstmLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                           int hidden);

  /// State: h, c. Step: the same. Tape: four gates.
  EncoderRows rows() const { return {2 * hidden, 2 * hidden, 4 * hidden, 0}; }
  /// The state before a window, and the gates of a step where no tape is kept.
  std::ptrdiff_t scratch_rows(const WindowShape& window) const {
    return rows().state + (window.training ? 0 : rows().tape);
  }
  double flops() const { return 8.0 * hidden * (hidden + input); }
  /// Everything is drawn within 1/sqrt(hidden), as PyTorch does.
  double first_value(const ParameterView&, std::ptrdiff_t, RandomStream& random) const {
    return within_fan_in(hidden, random);
  }
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedLstm {
  lanes::PackedMatrix<T> input;              ///< W_i (4 hidden x input)
  lanes::PackedMatrix<T> hidden;             ///< W_h (4 hidden x hidden)
  lanes::PackedMatrix<T> hidden_transposed;  ///< W_h' (hidden x 4 hidden)
  Buffer<T> bias;                            ///< b_i + b_h

  /// Packs the LSTM at `layout` in `parameters`. Allocates on the first call only.
  void pack(const LstmLayout& layout, const T* parameters);
};

/// The weights by columns, gates in blocks, and scratch: what one sequence needs, step by step.
template <typename T>
struct StreamedLstm : StreamedGates<T> {
  Buffer<T> c;

  /// Takes the LSTM at `layout` in `parameters`.
  void assign(const LstmLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
