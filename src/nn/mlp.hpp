// Multi-layer perceptron: layers of `out = W in + b`, with ReLU between them and none at the end.
// Paper: Sec. 7, the decoder f.
#pragma once

#include <string>
#include <vector>

#include "lanes/dense.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

/// Sizes of an MLP and where its parameters lie in the block.
struct MlpLayout {
  std::vector<int> widths;             ///< input, hidden layers, output: layers() + 1 numbers
  std::vector<std::ptrdiff_t> weight;  ///< per layer, out x in
  std::vector<std::ptrdiff_t> bias;    ///< per layer, out

  int layers() const { return static_cast<int>(weight.size()); }
  /// Rows of all hidden layers together: what the tape holds.
  int hidden_rows() const;

  /// Adds the parameters, named `prefix`.0.weight, `prefix`.0.bias and so on.
  static MlpLayout add_to(ParameterLayout& parameters, const std::string& prefix,
                          std::vector<int> widths);
};

/// The weights in the order the kernels read them.
template <typename T>
struct PackedMlp {
  std::vector<lanes::PackedMatrix<T>> forward;
  std::vector<lanes::PackedMatrix<T>> transposed;
  std::vector<Buffer<T>> bias;

  void pack(const MlpLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
