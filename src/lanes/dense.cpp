#include "lanes/dense.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/dense.cpp"
#include <hwy/foreach_target.h>

#include "lanes/dense-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {
template <typename T>
constexpr TileShape kShape = {kTileRows<T>, kTileUnits<T>};
static TileShape float_shape() { return kShape<float>; }
static TileShape double_shape() { return kShape<double>; }

KALMIA_DENSE_TILES(, 1, float);
KALMIA_DENSE_TILES(, 1, double);
#if HWY_MAX_BYTES == 64
KALMIA_DENSE_TILES(, 2, float);
#endif
KALMIA_DENSE_SUMS(, float);
KALMIA_DENSE_SUMS(, double);
}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::lanes {

HWY_EXPORT(float_shape);
HWY_EXPORT(double_shape);
template <>
TileShape tile_shape<float>() {
  return HWY_DYNAMIC_DISPATCH(float_shape)();
}
template <>
TileShape tile_shape<double>() {
  return HWY_DYNAMIC_DISPATCH(double_shape)();
}

template <typename T>
void PackedMatrix<T>::pack(const T* W, int num_rows, int num_cols, bool transposed) {
  rows = num_rows;
  cols = num_cols;
  tile_rows = tile_shape<T>().rows;
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  if (data.size() != size) data.resize(size);
  const std::ptrdiff_t row_step = transposed ? 1 : cols;
  const std::ptrdiff_t col_step = transposed ? rows : 1;
  const EvenSplit split(rows, tile_rows);
  T* out = data.data();
  for (int tile = 0; tile < split.tiles; ++tile) {
    const T* tile_W = W + split.begin(tile) * row_step;
    const int height = split.size(tile);
    for (int k = 0; k < cols; ++k)
      for (int i = 0; i < height; ++i) *out++ = tile_W[i * row_step + k * col_step];
  }
}

template struct PackedMatrix<float>;
template struct PackedMatrix<double>;

}  // namespace kalmia::lanes
#endif
