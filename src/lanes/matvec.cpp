#include "lanes/matvec.hpp"

namespace kalmia::lanes {

template <typename T>
void ColumnMatrix<T>::assign(const T* W, int num_rows, int num_cols, int blocks) {
  const int block = num_rows / blocks;
  const int padded = padded_to_line<T>(block);
  rows = blocks * padded;
  cols = num_cols;
  data.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  for (int i = 0; i < num_rows; ++i)
    for (int k = 0; k < num_cols; ++k)
      data[static_cast<std::size_t>(k * rows + i / block * padded + i % block)] =
          W[i * num_cols + k];
}

template struct ColumnMatrix<float>;
template struct ColumnMatrix<double>;

}  // namespace kalmia::lanes
