// Register-tiled products of a packed matrix with a panel, and the long products over (time, lane)
// that give the weight gradients.

#if defined(KALMIA_LANES_DENSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_DENSE_INL_H_
#undef KALMIA_LANES_DENSE_INL_H_
#else
#define KALMIA_LANES_DENSE_INL_H_
#endif

#include "lanes/dense.hpp"
#include "lanes/line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

// Tiles fill the register file: 24 accumulators of 32 registers with AVX-512, 12 of 16 elsewhere.
// Measured: 12 x 2 lines reach 186 of 189 GFLOP/s on one 2.95 GHz AVX-512 core (192x64 * 64x32).
// Networks in double serve derivative tests and the static stage, whose networks have one unit:
// small tiles compile fast, and give the same bits, since each sum of a product has its own order.
template <typename T>
inline constexpr int kTileRows = sizeof(T) == 8            ? 3
                                 : Line<float>::kVecs == 1 ? 12
                                 : Line<float>::kVecs == 2 ? 6
                                                           : 3;
template <typename T>
inline constexpr int kTileLines = sizeof(T) == 4 && Line<float>::kVecs == 1 ? 2 : 1;
template <typename T>
inline constexpr int kTileUnits = kTileRows<T> / 3;

/// What a product starts from.
enum class Start { Zero, Bias, Accumulate };

// out (R rows) = start + W_tile in, for `Lines` lines of lanes.
template <int R, int Lines, typename T>
HWY_INLINE void product_tile(const T* HWY_RESTRICT W, int cols, const T* HWY_RESTRICT in, int lanes,
                             Start start, const T* HWY_RESTRICT bias, T* HWY_RESTRICT out) {
  Line<T> sum[R][Lines];
  for (int i = 0; i < R; ++i)
    for (int l = 0; l < Lines; ++l)
      sum[i][l] = start == Start::Zero   ? zero<T>()
                  : start == Start::Bias ? broadcast(bias[i])
                                         : load(out + i * lanes + l * kLineLanes<T>);
  for (int k = 0; k < cols; ++k) {
    Line<T> x[Lines];
    for (int l = 0; l < Lines; ++l) x[l] = load(in + k * lanes + l * kLineLanes<T>);
    for (int i = 0; i < R; ++i) {
      const Line<T> w = broadcast(W[k * R + i]);
      for (int l = 0; l < Lines; ++l) sum[i][l] = fma(w, x[l], sum[i][l]);
    }
  }
  for (int i = 0; i < R; ++i)
    for (int l = 0; l < Lines; ++l) store(sum[i][l], out + i * lanes + l * kLineLanes<T>);
}

// Calls product_tile for a number of rows known only at run time.
template <int Lines, typename T, int R = kTileRows<T>>
HWY_INLINE void product_rows(int rows, const T* W, int cols, const T* in, int lanes, Start start,
                             const T* bias, T* out) {
  if constexpr (R > 0) {
    if (rows == R)
      product_tile<R, Lines>(W, cols, in, lanes, start, bias, out);
    else
      product_rows<Lines, T, R - 1>(rows, W, cols, in, lanes, start, bias, out);
  }
}

template <int Lines, typename T>
HWY_NOINLINE void product_columns(const PackedMatrix<T>& W, const T* in, int lanes, Start start,
                                  const T* bias, T* out) {
  const EvenSplit split(W.rows, kTileRows<T>);
  const T* tile_W = W.data.data();
  for (int tile = 0; tile < split.tiles; ++tile) {
    const int row = split.begin(tile);
    const int rows = split.size(tile);
    product_rows<Lines>(rows, tile_W, W.cols, in, lanes, start,
                        start == Start::Bias ? bias + row : nullptr,
                        out + static_cast<std::ptrdiff_t>(row) * lanes);
    tile_W += rows * W.cols;
  }
}

/// out = start + W in.
///
/// Shapes: W rows x cols (packed for this instruction set), in cols x lanes, out rows x lanes, bias
/// rows. Cost: 2 rows cols lanes FLOP; no allocation.
template <typename T>
HWY_INLINE void product(const PackedMatrix<T>& W, const T* in, int lanes, Start start,
                        const T* bias, T* out) {
  constexpr int kStep = kTileLines<T> * kLineLanes<T>;
  int lane = 0;
  for (; lane + kStep <= lanes; lane += kStep)
    product_columns<kTileLines<T>>(W, in + lane, lanes, start, bias, out + lane);
  for (; lane < lanes; lane += kLineLanes<T>)
    product_columns<1>(W, in + lane, lanes, start, bias, out + lane);
}

// ---- Weight gradients -------------------------------------------------------------------------
//
// d_W (rows x cols) = sum over time and lanes of a (rows) b (cols)'. Two forms:
//   wide    b is transposed first, so that its features are contiguous; then the register tile of
//           `product`, with a's elements broadcast
//   narrow  for few columns: dot products along the lanes, no transposition

/// The same rows of a panel at successive time steps.
template <typename T>
struct PanelSeries {
  const T* first;       ///< row 0 at the first step
  std::ptrdiff_t step;  ///< distance from one time step to the next
};

#if HWY_MAX_BYTES == 64
// Transposes 16 rows of one line of floats, where a line is one register of four 128-bit blocks: 4
// x 4 within the blocks, then the blocks. `in(r)` gives row r.
template <typename In>
HWY_INLINE void transpose_16(const In& in, float* HWY_RESTRICT out, std::ptrdiff_t stride) {
  using V = hn::Vec<LineTag<float>>;
  const LineTag<float> d;
  const hn::Repartition<double, LineTag<float>> dd;
  V block[4][4];  // block[g][i]: in 128-bit block b, rows 4g..4g+3 of lane 4b + i
  for (int g = 0; g < 4; ++g) {
    const V r0 = in(4 * g), r1 = in(4 * g + 1), r2 = in(4 * g + 2), r3 = in(4 * g + 3);
    const auto lo01 = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1));
    const auto hi01 = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1));
    const auto lo23 = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
    const auto hi23 = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
    block[g][0] = hn::BitCast(d, hn::InterleaveLower(dd, lo01, lo23));
    block[g][1] = hn::BitCast(d, hn::InterleaveUpper(dd, lo01, lo23));
    block[g][2] = hn::BitCast(d, hn::InterleaveLower(dd, hi01, hi23));
    block[g][3] = hn::BitCast(d, hn::InterleaveUpper(dd, hi01, hi23));
  }
  for (int i = 0; i < 4; ++i) {
    const V low02 = hn::ConcatLowerLower(d, block[2][i], block[0][i]);
    const V low13 = hn::ConcatLowerLower(d, block[3][i], block[1][i]);
    const V high02 = hn::ConcatUpperUpper(d, block[2][i], block[0][i]);
    const V high13 = hn::ConcatUpperUpper(d, block[3][i], block[1][i]);
    const auto even = [](V a, V b)
                          HWY_ATTR { return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a); };
    const auto odd = [](V a, V b)
                         HWY_ATTR { return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)); };
    hn::Store(even(low02, low13), d, out + i * stride);
    hn::Store(odd(low02, low13), d, out + (4 + i) * stride);
    hn::Store(even(high02, high13), d, out + (8 + i) * stride);
    hn::Store(odd(high02, high13), d, out + (12 + i) * stride);
  }
}
#endif

/// out[lane][row] = in[row][lane]; rows up to the next whole line are set to zero.
///
/// Shapes: in rows x lanes, out lanes x stride, stride >= padded rows and a multiple of a line.
template <typename T>
HWY_NOINLINE void transpose(const T* HWY_RESTRICT in, int rows, int lanes, T* HWY_RESTRICT out,
                            std::ptrdiff_t stride) {
  constexpr int kBlock = kLineLanes<T>;
  for (int row = 0; row < rows; row += kBlock)
    for (int lane = 0; lane < lanes; lane += kBlock) {
      const T* from = in + static_cast<std::ptrdiff_t>(row) * lanes + lane;
      T* to = out + lane * stride + row;
#if HWY_MAX_BYTES == 64
      if constexpr (sizeof(T) == 4) {
        transpose_16(
            [&](int r) HWY_ATTR {
              return row + r < rows ? hn::Load(LineTag<T>(), from + r * lanes)
                                    : hn::Zero(LineTag<T>());
            },
            to, stride);
        continue;
      }
#endif
      for (int b = 0; b < kBlock; ++b)
        for (int r = 0; r < kBlock; ++r)
          to[b * stride + r] = row + r < rows ? from[r * lanes + b] : T(0);
    }
}

template <int R, int Lines, typename T>
HWY_INLINE void wide_tile(const PanelSeries<T>& a, const PanelSeries<T>& b, int steps, int lanes,
                          std::ptrdiff_t stride, T* HWY_RESTRICT sums, std::ptrdiff_t sums_cols) {
  Line<T> sum[R][Lines];
  for (int i = 0; i < R; ++i)
    for (int l = 0; l < Lines; ++l) sum[i][l] = load(sums + i * sums_cols + l * kLineLanes<T>);
  for (int t = 0; t < steps; ++t) {
    const T* HWY_RESTRICT pa = a.first + t * a.step;
    const T* HWY_RESTRICT pb = b.first + t * b.step;
    for (int lane = 0; lane < lanes; ++lane) {
      Line<T> y[Lines];
      for (int l = 0; l < Lines; ++l) y[l] = load(pb + lane * stride + l * kLineLanes<T>);
      for (int i = 0; i < R; ++i) {
        const Line<T> x = broadcast(pa[i * lanes + lane]);
        for (int l = 0; l < Lines; ++l) sum[i][l] = fma(x, y[l], sum[i][l]);
      }
    }
  }
  for (int i = 0; i < R; ++i)
    for (int l = 0; l < Lines; ++l) store(sum[i][l], sums + i * sums_cols + l * kLineLanes<T>);
}

template <int Lines, typename T, int R = kTileRows<T>>
HWY_INLINE void wide_rows(int rows, const PanelSeries<T>& a, const PanelSeries<T>& b, int steps,
                          int lanes, std::ptrdiff_t stride, T* sums, std::ptrdiff_t sums_cols) {
  if constexpr (R > 0) {
    if (rows == R)
      wide_tile<R, Lines>(a, b, steps, lanes, stride, sums, sums_cols);
    else
      wide_rows<Lines, T, R - 1>(rows, a, b, steps, lanes, stride, sums, sums_cols);
  }
}

template <int Lines, typename T>
HWY_NOINLINE void wide_columns(const PanelSeries<T>& a, int rows, const PanelSeries<T>& b,
                               int steps, int lanes, std::ptrdiff_t stride, T* sums,
                               std::ptrdiff_t sums_cols) {
  const EvenSplit split(rows, kTileRows<T>);
  for (int tile = 0; tile < split.tiles; ++tile) {
    const std::ptrdiff_t i = split.begin(tile);
    wide_rows<Lines>(split.size(tile), {a.first + i * lanes, a.step}, b, steps, lanes, stride,
                     sums + i * sums_cols, sums_cols);
  }
}

/// Adjoint of `product` for the weights, wide form: sums[i][j] += sum over t and lanes of
/// a[t][i][lane] b[t][lane][j].
///
/// Shapes: a rows x lanes a step; b lanes x stride a step (from `transpose`); sums rows x cols,
/// where cols is a multiple of a line. Call it with as many steps as stay in the L1 cache.
template <typename T>
HWY_INLINE void outer_product_wide(const PanelSeries<T>& a, int rows, const PanelSeries<T>& b,
                                   std::ptrdiff_t stride, int cols, int steps, int lanes, T* sums) {
  constexpr int kStep = kTileLines<T> * kLineLanes<T>;
  int j = 0;
  for (; j + kStep <= cols; j += kStep)
    wide_columns<kTileLines<T>>(a, rows, {b.first + j, b.step}, steps, lanes, stride, sums + j,
                                cols);
  for (; j < cols; j += kLineLanes<T>)
    wide_columns<1>(a, rows, {b.first + j, b.step}, steps, lanes, stride, sums + j, cols);
}

// Tile of dot products: 6 x 4 lines of accumulators with AVX-512.
template <typename T>
inline constexpr int kDotRows = sizeof(T) == 4 && Line<float>::kVecs == 1 ? 6 : 3;
template <typename T>
inline constexpr int kDotCols = sizeof(T) == 8            ? 1
                                : Line<float>::kVecs == 1 ? 4
                                : Line<float>::kVecs == 2 ? 2
                                                          : 1;

template <int R, int C, typename T>
HWY_INLINE void narrow_tile(const PanelSeries<T>& a, const PanelSeries<T>& b, int steps, int lanes,
                            T* HWY_RESTRICT sums, int sums_cols) {
  Line<T> sum[R][C];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) sum[i][j] = load(sums + (i * sums_cols + j) * kLineLanes<T>);
  for (int t = 0; t < steps; ++t) {
    const T* HWY_RESTRICT pa = a.first + t * a.step;
    const T* HWY_RESTRICT pb = b.first + t * b.step;
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>) {
      Line<T> y[C];
      for (int j = 0; j < C; ++j) y[j] = load(pb + j * lanes + lane);
      for (int i = 0; i < R; ++i) {
        const Line<T> x = load(pa + i * lanes + lane);
        for (int j = 0; j < C; ++j) sum[i][j] = fma(x, y[j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) store(sum[i][j], sums + (i * sums_cols + j) * kLineLanes<T>);
}

template <int R, typename T, int C = kDotCols<T>>
HWY_INLINE void narrow_cols(int cols, const PanelSeries<T>& a, const PanelSeries<T>& b, int steps,
                            int lanes, T* sums, int sums_cols) {
  if constexpr (C > 0) {
    if (cols == C)
      narrow_tile<R, C>(a, b, steps, lanes, sums, sums_cols);
    else
      narrow_cols<R, T, C - 1>(cols, a, b, steps, lanes, sums, sums_cols);
  }
}

template <typename T, int R = kDotRows<T>>
HWY_INLINE void narrow_rows(int rows, int cols, const PanelSeries<T>& a, const PanelSeries<T>& b,
                            int steps, int lanes, T* sums, int sums_cols) {
  if constexpr (R > 0) {
    if (rows == R)
      narrow_cols<R>(cols, a, b, steps, lanes, sums, sums_cols);
    else
      narrow_rows<T, R - 1>(rows, cols, a, b, steps, lanes, sums, sums_cols);
  }
}

/// Adjoint of `product` for the weights, summed over time and left unsummed over the lanes of a
/// line: sums[i][j] += sum over t and lane groups of a[t][i] b[t][j], elementwise over a line.
///
/// Shapes: a rows x lanes and b cols x lanes per step; sums rows x cols lines (row-major).
/// Why unsummed: a horizontal sum per tile and chunk of time would cost as much as the products of
/// two steps; `sum_lines` does it once per window. Call it with as many steps as stay in the L2
/// cache.
template <typename T>
HWY_NOINLINE void outer_product_narrow(const PanelSeries<T>& a, int rows, const PanelSeries<T>& b,
                                       int cols, int steps, int lanes, T* sums) {
  const EvenSplit row_split(rows, kDotRows<T>);
  const EvenSplit col_split(cols, kDotCols<T>);
  for (int p = 0; p < row_split.tiles; ++p) {
    const int i = row_split.begin(p);
    for (int q = 0; q < col_split.tiles; ++q) {
      const int j = col_split.begin(q);
      narrow_rows<T>(row_split.size(p), col_split.size(q), {a.first + i * lanes, a.step},
                     {b.first + j * lanes, b.step}, steps, lanes,
                     sums + (static_cast<std::ptrdiff_t>(i) * cols + j) * kLineLanes<T>, cols);
    }
  }
}

/// Adjoint of `product` for the bias: sums[i] += sum over t and lane groups of a[t][i].
template <typename T>
HWY_NOINLINE void row_sums(const PanelSeries<T>& a, int rows, int steps, int lanes, T* sums) {
  for (int i = 0; i < rows; ++i) {
    Line<T> sum = load(sums + i * kLineLanes<T>);
    for (int t = 0; t < steps; ++t)
      for (int lane = 0; lane < lanes; lane += kLineLanes<T>)
        sum = sum + load(a.first + t * a.step + i * lanes + lane);
    store(sum, sums + i * kLineLanes<T>);
  }
}

/// gradient[i] += sum over the lanes of line i, for `count` lines; clears the lines.
template <typename T>
HWY_NOINLINE void sum_lines(T* HWY_RESTRICT lines, std::ptrdiff_t count, T* HWY_RESTRICT gradient) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    T* line = lines + i * kLineLanes<T>;
    gradient[i] += sum_lanes(load(line));
    store(zero<T>(), line);
  }
}

// All of these are compiled once, in dense.cpp.
#define KALMIA_DENSE_TILES(keyword, lines, T)                                                     \
  keyword template void product_columns<lines, T>(const PackedMatrix<T>&, const T*, int, Start,   \
                                                  const T*, T*);                                  \
  keyword template void wide_columns<lines, T>(const PanelSeries<T>&, int, const PanelSeries<T>&, \
                                               int, int, std::ptrdiff_t, T*, std::ptrdiff_t)
#define KALMIA_DENSE_SUMS(keyword, T)                                                              \
  keyword template void transpose<T>(const T*, int, int, T*, std::ptrdiff_t);                      \
  keyword template void outer_product_narrow<T>(const PanelSeries<T>&, int, const PanelSeries<T>&, \
                                                int, int, int, T*);                                \
  keyword template void row_sums<T>(const PanelSeries<T>&, int, int, int, T*);                     \
  keyword template void sum_lines<T>(T*, std::ptrdiff_t, T*)
KALMIA_DENSE_TILES(extern, 1, float);
KALMIA_DENSE_TILES(extern, 1, double);
#if HWY_MAX_BYTES == 64
KALMIA_DENSE_TILES(extern, 2, float);
#endif
KALMIA_DENSE_SUMS(extern, float);
KALMIA_DENSE_SUMS(extern, double);

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
