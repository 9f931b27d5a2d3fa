// A temporal convolutional network: residual causal convolutions of two taps each, whose dilation
// doubles from layer to layer. Shapes, parameters and their packed forms; the arithmetic is in
// tcn-inl.h.
//
//   z_0[k]     = W_e x[k] + b_e
//   z_(l+1)[k] = z_l[k] + tanh(A_l z_l[k - 2^l] + B_l z_l[k] + b_l),   l = 0 ... depth - 1
//   h[k]       = tanh(z_depth[k])
//
// It reads 2^depth inputs, the fewest that cover `taps`: the work grows with the logarithm of how
// far it looks back. Before the first input of a series every z_l is zero. A layer is PyTorch's
// Conv1d with kernel_size 2, dilation 2^l and 2^l zeros put before the series: its weight (hidden,
// hidden, 2) is A_l, B_l. Source: Bai, Kolter, Koltun 2018, without their second convolution of a
// block and dropout.
#pragma once

#include <string>
#include <vector>

#include "lanes/dense.hpp"
#include "lanes/matvec.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

template <typename T>
struct PackedTcn;
template <typename T>
struct StreamedTcn;

/// Sizes of a temporal convolutional network and where its parameters lie in the block.
struct TcnLayout {
  static constexpr std::string_view kName = "tcn";
  static constexpr std::string_view kMeaning = "residual convolutions over the last taps steps";
  static constexpr bool kReadsTaps = true;
  template <typename T>
  using Packed = PackedTcn<T>;
  template <typename T>
  using Streamed = StreamedTcn<T>;

  int input = 0;
  int hidden = 0;
  std::ptrdiff_t embed = 0;           ///< W_e, hidden x input
  std::ptrdiff_t embed_bias = 0;      ///< hidden
  std::vector<std::ptrdiff_t> older;  ///< A_l, hidden x hidden, of each layer
  std::vector<std::ptrdiff_t> newer;  ///< B_l, hidden x hidden
  std::vector<std::ptrdiff_t> bias;   ///< b_l, hidden

  /// Adds the parameters, named `prefix`.embed.weight, `prefix`.0.older and so on.
  static TcnLayout add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                          int hidden, int taps);

  int depth() const { return static_cast<int>(older.size()); }
  /// Steps that layer l looks back.
  static int dilation(int layer) { return 1 << layer; }
  /// Steps that the layers before `layer` look back together, and so all of them.
  static int reach(int layer) { return (1 << layer) - 1; }

  /// State: layer by layer the last 2^l of z_l, oldest first. Tape: tanh of each layer, later the
  /// adjoint of its sum, and the adjoint of z_0.
  EncoderRows rows() const {
    return {reach(depth()) * hidden, hidden, (depth() + 1) * hidden, hidden};
  }
  /// z_l of a window and before it, of each layer and direction; in training their adjoints; and a
  /// panel.
  std::ptrdiff_t scratch_rows(const WindowShape& window) const {
    return hidden *
           (series_panels(window.steps) * (window.directions + (window.training ? 1 : 0)) + 1);
  }
  /// Panels of z_l of all layers.
  std::ptrdiff_t series_panels(int steps) const {
    return reach(depth()) + static_cast<std::ptrdiff_t>(depth()) * steps;
  }
  double flops() const { return 2.0 * hidden * (input + 2.0 * hidden * depth()); }
  /// Within 1/sqrt(the inputs of a layer), as PyTorch does.
  double first_value(const ParameterView& parameter, std::ptrdiff_t, RandomStream& random) const {
    const bool reads_input = parameter.offset == embed || parameter.offset == embed_bias;
    return within_fan_in(reads_input ? input : 2 * hidden, random);
  }
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedTcn {
  struct Layer {
    lanes::PackedMatrix<T> older, newer, older_T, newer_T;
    Buffer<T> bias;
  };
  lanes::PackedMatrix<T> embed;
  Buffer<T> embed_bias;
  std::vector<Layer> layer;

  /// Packs the network at `layout` in `parameters`. Allocates on the first call only.
  void pack(const TcnLayout& layout, const T* parameters);
};

/// The weights by columns, and scratch: what one sequence needs, step by step.
template <typename T>
struct StreamedTcn {
  struct Layer {
    lanes::ColumnMatrix<T> older, newer;
    Buffer<T> bias;
  };
  int hidden = 0;
  lanes::ColumnMatrix<T> embed;
  Buffer<T> embed_bias;
  std::vector<Layer> layer;
  Buffer<T> sum, more;

  /// Takes the network at `layout` in `parameters`.
  void assign(const TcnLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
