// A matrix laid out for products with one vector: what a single sequence, step by step, needs.
#pragma once

#include <algorithm>

#include "base/buffer.hpp"
#include "lanes/panel.hpp"

namespace kalmia::lanes {

/// A rows x cols matrix stored by columns, rows padded with zeros to whole lines: the product is a
/// sum of columns, each element of the vector broadcast.
template <typename T>
struct ColumnMatrix {
  int rows = 0;  ///< padded
  int cols = 0;
  Buffer<T> data;

  /// Copies W (row-major, `num_rows` x `num_cols`), whose rows come in `blocks` equal blocks that
  /// are padded to whole lines each.
  void assign(const T* W, int num_rows, int num_cols, int blocks = 1);
};

/// What is added to such a product: `blocks` blocks of `size` numbers, each padded with zeros to
/// whole lines.
template <typename T>
void assign_padded(Buffer<T>& to, const T* from, int size, int blocks = 1) {
  const int padded = padded_to_line<T>(size);
  to.resize(static_cast<std::size_t>(blocks * padded));
  for (int b = 0; b < blocks; ++b) std::copy_n(from + b * size, size, to.data() + b * padded);
}

}  // namespace kalmia::lanes
