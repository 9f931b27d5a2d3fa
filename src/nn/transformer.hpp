// A causal transformer over the last `taps` inputs, one pre-norm block: shapes, parameters and
// their packed forms. The arithmetic is in transformer-inl.h.
//
//   u[k]    = W_e x[k] + b_e
//   q       = W_q norm(u[k]) + b_q,   (key, value)[k] = W_kv norm(u[k])
//   w[j]    = softmax over the lags j of (q . key[k-j] / sqrt(d) + p[j]),   of each head
//   r       = u[k] + W_o (sum over j of w[j] value[k-j], of all heads) + b_o
//   h[k]    = tanh(r + W_2 tanh(W_1 norm(r) + b_1) + b_2)
//
// norm(v) = (v - mean(v)) / sqrt(var(v) + kNormFloor) over the units of a step; gain and offset are
// those of the layer that reads it. A head has d = hidden / heads units, and a learned bias p for
// each lag instead of positions: a window's place does not matter, and a stream never ends. Inputs
// before the first of a series do not exist: they have no weight. Keys need no offset of their own
// (softmax does not see it) and values none (b_o is it). tanh, not ReLU, for exact float gradients.
//
// There is one block because its keys and values depend on the input of their own step alone. What
// a sequence remembers is the keys and values of taps - 1 steps, and a series cut anywhere gives
// the same bits as the whole; of a second block either would be untrue, or each step would cost
// `taps` steps of the first. More depth is there for convolutions (tcn.hpp), which carry every
// layer. Paper: Sec. 7 names the transformer as a choice of the encoder.
#pragma once

#include <string>

#include "lanes/dense.hpp"
#include "lanes/matvec.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

/// Added to the variance that a step is normalised by.
inline constexpr double kNormFloor = 1e-5;
/// The mark of the newest slot in the ring of a stream.
inline constexpr double kNewestMark = 2;

template <typename T>
struct PackedTransformer;
template <typename T>
struct StreamedTransformer;

/// What one step of training keeps; rows of a panel.
struct TransformerTape {
  int norm_u = 0;   ///< norm(u), and what u - mean was multiplied by
  int scale_u = 0;  ///< 1 row
  int query = 0;
  int weights = 0;  ///< of each head and lag; later the adjoints of what softmax reads
  int heard = 0;    ///< the values of all heads, weighted
  int norm_r = 0;
  int scale_r = 0;  ///< 1 row
  int inner = 0;    ///< 2 hidden rows, after tanh
  int total = 0;
};

/// Adjoints from which the weight gradients of a step are made; rows of a panel. Those of key and
/// value lie apart, since later steps add to them.
struct TransformerAdjoint {
  int out = 0;    ///< of what tanh reads
  int inner = 0;  ///< 2 hidden rows, before tanh
  int r = 0;
  int query = 0;
  int u = 0;
  int total = 0;
};

/// Sizes of a transformer and where its parameters lie in the block.
struct TransformerLayout {
  static constexpr std::string_view kName = "transformer";
  static constexpr std::string_view kMeaning = "self-attention over the last taps steps";
  static constexpr bool kReadsTaps = true;
  template <typename T>
  using Packed = PackedTransformer<T>;
  template <typename T>
  using Streamed = StreamedTransformer<T>;

  int input = 0;
  int hidden = 0;
  int taps = 0;
  int heads = 0;
  std::ptrdiff_t embed = 0;          ///< W_e, hidden x input
  std::ptrdiff_t embed_bias = 0;     ///< hidden
  std::ptrdiff_t query = 0;          ///< W_q, hidden x hidden
  std::ptrdiff_t query_bias = 0;     ///< hidden
  std::ptrdiff_t key_value = 0;      ///< W_kv, 2 hidden x hidden, keys first
  std::ptrdiff_t position = 0;       ///< p, heads x taps, the newest first
  std::ptrdiff_t output = 0;         ///< W_o, hidden x hidden
  std::ptrdiff_t output_bias = 0;    ///< hidden
  std::ptrdiff_t expand = 0;         ///< W_1, 2 hidden x hidden
  std::ptrdiff_t expand_bias = 0;    ///< 2 hidden
  std::ptrdiff_t contract = 0;       ///< W_2, hidden x 2 hidden
  std::ptrdiff_t contract_bias = 0;  ///< hidden

  /// Adds the parameters, named `prefix`.embed.weight and so on. There are as many heads, up to 8,
  /// as leave each 4 units or more.
  static TransformerLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                                  int hidden, int taps);

  /// Rows of a step that later steps read: key, value, and a mark that is not zero if it exists
  /// (in the ring of a stream kNewestMark at the newest).
  int slot_rows() const { return 2 * hidden + 1; }
  TransformerTape tape() const;
  TransformerAdjoint adjoint() const;

  /// State: the slots of the last taps - 1 steps, oldest first.
  EncoderRows rows() const { return {(taps - 1) * slot_rows(), hidden, tape().total, 2 * hidden}; }
  /// The slots of a window and those before it, in each direction; in training their adjoints,
  /// those of a chunk of steps and one panel beside; else the tape of one step.
  std::ptrdiff_t scratch_rows(const WindowShape& window) const;
  double flops() const { return 2.0 * hidden * (input + 8.0 * hidden) + 4.0 * hidden * taps; }
  /// Layers within 1/sqrt(their inputs), as PyTorch does. The position's bias of head i starts as
  /// -2^(-8 (i + 1) / heads) a step of lag: heads that look back farther and farther (Press et al.
  /// 2022, where it stays so).
  double first_value(const ParameterView& parameter, std::ptrdiff_t index,
                     RandomStream& random) const;
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedTransformer {
  int hidden = 0, taps = 0, heads = 0;
  lanes::PackedMatrix<T> embed, query, key_value, output, expand, contract;
  lanes::PackedMatrix<T> query_T, key_value_T, output_T, expand_T, contract_T;
  Buffer<T> embed_bias, query_bias, position, output_bias, expand_bias, contract_bias;

  /// Packs the transformer at `layout` in `parameters`. Allocates on the first call only.
  void pack(const TransformerLayout& layout, const T* parameters);
};

/// The weights by columns, and scratch: what one sequence needs, step by step.
template <typename T>
struct StreamedTransformer {
  int hidden = 0, taps = 0, heads = 0;
  lanes::ColumnMatrix<T> embed, query, key_value, output, expand, contract;
  Buffer<T> embed_bias, query_bias, position, output_bias, expand_bias, contract_bias;
  Buffer<T> zeros;   ///< 2 hidden, in blocks
  Buffer<T> exists;  ///< of each lag, 1 or 0
  Buffer<T> r, norm, q, slot, heard, inner, weights;

  /// Takes the transformer at `layout` in `parameters`.
  void assign(const TransformerLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
