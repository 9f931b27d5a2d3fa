// Gated recurrent unit: shapes, parameters and their packed form. The arithmetic is in gru-inl.h.
//
//   r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//   z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n  = tanh   (W_in x + b_in + r (W_hn h + b_hn))
//   h' = (1 - z) n + z h
//
// These are PyTorch's equations and its parameter shapes, so weights can be exchanged.
// Paper: Sec. 7 (Cho et al. 2014).
#pragma once

#include <string>

#include "lanes/dense.hpp"
#include "lanes/matvec.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/parameters.hpp"
#include "nn/streamed_gates.hpp"

namespace kalmia::nn {

template <typename T>
struct PackedGru;
template <typename T>
struct StreamedGru;

/// Sizes of a GRU and where its parameters lie in the block.
struct GruLayout {
  static constexpr std::string_view kName = "gru";
  static constexpr std::string_view kMeaning = "the paper's";
  static constexpr bool kReadsTaps = false;
  template <typename T>
  using Packed = PackedGru<T>;
  template <typename T>
  using Streamed = StreamedGru<T>;

  int input = 0;
  int hidden = 0;
  std::ptrdiff_t weight_ih = 0;  ///< 3 hidden x input, gates in the order r, z, n
  std::ptrdiff_t weight_hh = 0;  ///< 3 hidden x hidden
  std::ptrdiff_t bias_ih = 0;    ///< 3 hidden
  std::ptrdiff_t bias_hh = 0;    ///< 3 hidden

  /// Adds the four parameters, named `prefix`.weight_ih and so on.
  static GruLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                          int hidden);

  /// State: h. Step: the same. Tape: four gates.
  EncoderRows rows() const { return {hidden, hidden, 4 * hidden, 0}; }
  /// The state before a window, and the gates of a step where no tape is kept.
  std::ptrdiff_t scratch_rows(const WindowShape& window) const {
    return rows().state + (window.training ? 0 : rows().tape);
  }
  double flops() const { return 6.0 * hidden * (hidden + input); }
  /// Everything is drawn within 1/sqrt(hidden), as PyTorch does.
  double first_value(const ParameterView&, std::ptrdiff_t, RandomStream& random) const {
    return within_fan_in(hidden, random);
  }
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedGru {
  int input = 0;
  int hidden = 0;
  /// Unit tile by unit tile: biases r (sum of both), z (sum of both), hn, in; then for each input
  /// the rows of r, z, n; then for each hidden unit the rows of r, z, n.
  Buffer<T> forward;
  /// W_hh' (hidden x 3 hidden).
  lanes::PackedMatrix<T> hidden_transposed;

  /// Packs the GRU at `layout` in `parameters`. Allocates on the first call only.
  void pack(const GruLayout& layout, const T* parameters);
};

/// The weights by columns, gates in blocks, and scratch: what one sequence needs, step by step.
template <typename T>
struct StreamedGru : StreamedGates<T> {
  /// Takes the GRU at `layout` in `parameters`.
  void assign(const GruLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
