// The weights of a recurrent encoder for one sequence, step by step: gates from its input and from
// its h.
#pragma once

#include "base/buffer.hpp"
#include "lanes/matvec.hpp"

namespace kalmia::nn {

/// The weights by columns, gates in blocks, and scratch.
template <typename T>
struct StreamedGates {
  lanes::ColumnMatrix<T> input, hidden;
  Buffer<T> bias_input, bias_hidden;
  Buffer<T> gates_input, gates_hidden;

  /// Takes the weights at `layout`, PyTorch's four, in `parameters`.
  template <int kGates, typename Layout>
  void assign_gates(const Layout& layout, const T* parameters) {
    const int rows = kGates * layout.hidden;
    input.assign(parameters + layout.weight_ih, rows, layout.input, kGates);
    hidden.assign(parameters + layout.weight_hh, rows, layout.hidden, kGates);
    lanes::assign_padded(bias_input, parameters + layout.bias_ih, layout.hidden, kGates);
    lanes::assign_padded(bias_hidden, parameters + layout.bias_hh, layout.hidden, kGates);
    gates_input.resize(bias_input.size());
    gates_hidden.resize(bias_hidden.size());
  }
};

}  // namespace kalmia::nn
