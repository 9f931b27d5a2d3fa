// Products of small matrices, one matrix per lane. A line matrix is rows x cols entries in
// row-major order, each entry a line: entry (i, j) of an r x c matrix starts at
// p + (i c + j) kLineLanes<T>. A vector is a matrix of one column.
//
// All products are made of register tiles: a tile of C stays in registers while k runs, and reads
// one column of A and one row of B per k. Sizes that are no multiple of the tile are cut into
// balanced blocks (6 = 3 + 3, 5 = 3 + 2), so that no tile is too small to hide the latency of its
// multiply-adds.
//
// Outputs must not overlap inputs. Nothing here allocates.
//
// Adjoints of symmetric matrices are full symmetric matrices, both triangles, everywhere: the
// differential of a loss is the sum of d_M(i, j) dM(i, j) over all i, j.

#if defined(KALMIA_LANES_SMALL_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_SMALL_MATRIX_INL_H_
#undef KALMIA_LANES_SMALL_MATRIX_INL_H_
#else
#define KALMIA_LANES_SMALL_MATRIX_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "lanes/line-inl.h"
#include "lanes/panel.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

/// Edge of the largest register tile: 16 accumulators and 5 operands of 32 registers where a line
/// is one register, 8 and 6 of 16 where it is two.
template <typename T>
inline constexpr int kTile = Line<T>::kVecs == 1   ? 4
                             : Line<T>::kVecs == 2 ? 2
                                                   : 1;

/// Size of the next block when `left` rows remain.
HWY_INLINE int next_block(int left, int tile) {
  if (left <= tile) return left;
  return left >= 2 * tile ? tile : (left + 1) / 2;
}

/// Address of entry `index` of a line matrix.
template <typename T>
HWY_INLINE T* entry(T* p, int index) {
  return p + static_cast<std::ptrdiff_t>(index) * kLineLanes<std::remove_const_t<T>>;
}

/// A matrix seen through strides, counted in numbers: entry (i, k) is at p + i row + k col.
template <typename T>
struct Strided {
  const T* p;
  std::ptrdiff_t row;
  std::ptrdiff_t col;
};
/// The rows x cols line matrix at p, and its transpose.
template <typename T>
HWY_INLINE Strided<T> as_is(const T* p, int cols) {
  return {p, static_cast<std::ptrdiff_t>(cols) * kLineLanes<T>, kLineLanes<T>};
}
template <typename T>
HWY_INLINE Strided<T> transposed(const T* p, int cols) {
  return {p, kLineLanes<T>, static_cast<std::ptrdiff_t>(cols) * kLineLanes<T>};
}

/// A block of C in registers.
template <int TI, int TJ, typename T>
struct Tile {
  Line<T> v[TI][TJ];
};

/// acc(i, j) += sum over k < count of a[i][k a_step] b[j][k b_step].
template <int TI, int TJ, typename T>
HWY_INLINE void accumulate(Tile<TI, TJ, T>& acc, int count, const T* const (&a)[TI],
                           std::ptrdiff_t a_step, const T* const (&b)[TJ], std::ptrdiff_t b_step) {
  std::ptrdiff_t ak = 0;
  std::ptrdiff_t bk = 0;
  for (int k = 0; k < count; ++k, ak += a_step, bk += b_step) {
    Line<T> row[TJ];
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) row[j] = load(b[j] + bk);
    HWY_UNROLL(4)
    for (int i = 0; i < TI; ++i) {
      const Line<T> col = load(a[i] + ak);
      HWY_UNROLL(4)
      for (int j = 0; j < TJ; ++j) acc.v[i][j] = fma(col, row[j], acc.v[i][j]);
    }
  }
}

/// Which part of a tile is stored. A symmetric result is computed on and below the diagonal and
/// mirrored, so that its two triangles hold the same bits.
enum class Part { Whole, WholeAndMirror, LowerAndMirror };

template <Put put, Part part, int TI, int TJ, typename T>
HWY_INLINE void store_tile(const Tile<TI, TJ, T>& acc, T* C, T* mirror, std::ptrdiff_t c_row) {
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) {
      if (part == Part::LowerAndMirror && j > i) continue;
      T* c = C + i * c_row + j * kLineLanes<T>;
      Line<T> value = acc.v[i][j];
      if constexpr (put == Put::Add) value = load(c) + value;
      if constexpr (put == Put::Sub) value = load(c) - value;
      store(value, c);
      if (part != Part::Whole) store(value, mirror + j * c_row + i * kLineLanes<T>);
    }
  }
}

template <Put put, Part part, int TI, int TJ, typename T>
HWY_INLINE void product_tile(int count, const Strided<T>& A, const Strided<T>& B, T* C, T* mirror,
                             std::ptrdiff_t c_row) {
  const T* a[TI];
  const T* b[TJ];
  Tile<TI, TJ, T> acc;
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) a[i] = A.p + i * A.row;
  HWY_UNROLL(4)
  for (int j = 0; j < TJ; ++j) b[j] = B.p + j * B.col;
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) acc.v[i][j] = zero<T>();
  }
  accumulate<TI, TJ, T>(acc, count, a, A.col, b, B.row);
  store_tile<put, part>(acc, C, mirror, c_row);
}

template <Put put, Part part, int TI, typename T>
HWY_INLINE void product_tile_cols(int cols, int count, const Strided<T>& A, const Strided<T>& B,
                                  T* C, T* mirror, std::ptrdiff_t c_row) {
  static_assert(kTile<T> <= 4);
  if constexpr (part == Part::LowerAndMirror) {  // always square
    product_tile<put, part, TI, TI>(count, A, B, C, mirror, c_row);
  } else if constexpr (kTile<T> == 1) {
    product_tile<put, part, TI, 1>(count, A, B, C, mirror, c_row);
  } else if constexpr (kTile<T> == 2) {
    if (cols == 2) return product_tile<put, part, TI, 2>(count, A, B, C, mirror, c_row);
    product_tile<put, part, TI, 1>(count, A, B, C, mirror, c_row);
  } else {
    switch (cols) {
      case 4:
        return product_tile<put, part, TI, 4>(count, A, B, C, mirror, c_row);
      case 3:
        return product_tile<put, part, TI, 3>(count, A, B, C, mirror, c_row);
      case 2:
        return product_tile<put, part, TI, 2>(count, A, B, C, mirror, c_row);
      default:
        return product_tile<put, part, TI, 1>(count, A, B, C, mirror, c_row);
    }
  }
}

/// One block of rows x cols, both at most kTile, of C (+)= A B; A.p and B.p stand at the block.
template <Put put, Part part, typename T>
HWY_INLINE void product_block(int rows, int cols, int count, const Strided<T>& A,
                              const Strided<T>& B, T* C, T* mirror, std::ptrdiff_t c_row) {
  if constexpr (kTile<T> >= 4) {
    if (rows == 4) return product_tile_cols<put, part, 4>(cols, count, A, B, C, mirror, c_row);
    if (rows == 3) return product_tile_cols<put, part, 3>(cols, count, A, B, C, mirror, c_row);
  }
  if constexpr (kTile<T> >= 2) {
    if (rows == 2) return product_tile_cols<put, part, 2>(cols, count, A, B, C, mirror, c_row);
  }
  product_tile_cols<put, part, 1>(cols, count, A, B, C, mirror, c_row);
}

template <Put put, typename T>
HWY_INLINE void product_inline(int rows, int count, int cols, const Strided<T>& A,
                               const Strided<T>& B, T* C) {
  const std::ptrdiff_t c_row = static_cast<std::ptrdiff_t>(cols) * kLineLanes<T>;
  for (int i = 0, height; i < rows; i += height) {
    height = next_block(rows - i, kTile<T>);
    const Strided<T> a{A.p + i * A.row, A.row, A.col};
    for (int j = 0, width; j < cols; j += width) {
      width = next_block(cols - j, kTile<T>);
      product_block<put, Part::Whole, T>(height, width, count, a, {B.p + j * B.col, B.row, B.col},
                                         entry(C, i * cols + j), nullptr, c_row);
    }
  }
}

template <Put put, typename T>
HWY_NOINLINE void product_call(int rows, int count, int cols, const Strided<T>& A,
                               const Strided<T>& B, T* C) {
  product_inline<put>(rows, count, cols, A, B, C);
}
/// C (rows x cols) = A (rows x count) B (count x cols), or += or -=. Sizes the compiler knows give
/// straight code in place of a call.
template <Put put, typename T>
HWY_INLINE void product(int rows, int count, int cols, const Strided<T>& A, const Strided<T>& B,
                        T* C) {
  if (__builtin_constant_p(rows) && __builtin_constant_p(count) && __builtin_constant_p(cols))
    product_inline<put>(rows, count, cols, A, B, C);
  else
    product_call<put>(rows, count, cols, A, B, C);
}

template <Put put, typename T>
HWY_INLINE void symmetric_product_inline(int n, int count, const Strided<T>& A, const Strided<T>& B,
                                         T* C) {
  const std::ptrdiff_t c_row = static_cast<std::ptrdiff_t>(n) * kLineLanes<T>;
  for (int i = 0, height; i < n; i += height) {
    height = next_block(n - i, kTile<T>);
    const Strided<T> a{A.p + i * A.row, A.row, A.col};
    for (int j = 0, width; j <= i; j += width) {
      width = next_block(n - j, kTile<T>);
      const Strided<T> b{B.p + j * B.col, B.row, B.col};
      T* c = entry(C, i * n + j);
      T* mirror = entry(C, j * n + i);
      if (j < i)
        product_block<put, Part::WholeAndMirror, T>(height, width, count, a, b, c, mirror, c_row);
      else
        product_block<put, Part::LowerAndMirror, T>(height, width, count, a, b, c, mirror, c_row);
    }
  }
}

template <Put put, typename T>
HWY_NOINLINE void symmetric_product_call(int n, int count, const Strided<T>& A, const Strided<T>& B,
                                         T* C) {
  symmetric_product_inline<put>(n, count, A, B, C);
}
/// The same where A B is known to be symmetric (n x n): only the lower triangle is computed, at
/// half the cost, and mirrored. For Add and Sub, C must be symmetric.
template <Put put, typename T>
HWY_INLINE void symmetric_product(int n, int count, const Strided<T>& A, const Strided<T>& B,
                                  T* C) {
  if (__builtin_constant_p(n) && __builtin_constant_p(count))
    symmetric_product_inline<put>(n, count, A, B, C);
  else
    symmetric_product_call<put>(n, count, A, B, C);
}

/// C = A B with A rows x count, B count x cols.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply(int rows, int count, int cols, const T* A, const T* B, T* C) {
  product<put>(rows, count, cols, as_is(A, count), as_is(B, cols), C);
}
/// C = A B' with A rows x count, B cols x count.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_nt(int rows, int count, int cols, const T* A, const T* B, T* C) {
  product<put>(rows, count, cols, as_is(A, count), transposed(B, count), C);
}
/// C = A' B with A count x rows, B count x cols.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_tn(int rows, int count, int cols, const T* A, const T* B, T* C) {
  product<put>(rows, count, cols, transposed(A, rows), as_is(B, cols), C);
}
/// The three where the n x n result is known to be symmetric; see `symmetric_product`.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_symmetric(int n, int count, const T* A, const T* B, T* C) {
  symmetric_product<put>(n, count, as_is(A, count), as_is(B, n), C);
}
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_nt_symmetric(int n, int count, const T* A, const T* B, T* C) {
  symmetric_product<put>(n, count, as_is(A, count), transposed(B, count), C);
}
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_tn_symmetric(int n, int count, const T* A, const T* B, T* C) {
  symmetric_product<put>(n, count, transposed(A, n), as_is(B, n), C);
}
// R rows of y = A x: R independent sums.
template <Put put, int R, typename T>
HWY_INLINE void vec_rows(int count, const T* A, std::ptrdiff_t row, std::ptrdiff_t step, const T* x,
                         T* y) {
  Line<T> sum[R];
  HWY_UNROLL(8)
  for (int i = 0; i < R; ++i) sum[i] = put == Put::Set ? zero<T>() : load(entry(y, i));
  for (int k = 0; k < count; ++k, A += step) {
    const Line<T> x_k = load(entry(x, k));
    HWY_UNROLL(8)
    for (int i = 0; i < R; ++i)
      sum[i] = put == Put::Sub ? fnma(load(A + i * row), x_k, sum[i])
                               : fma(load(A + i * row), x_k, sum[i]);
  }
  HWY_UNROLL(8)
  for (int i = 0; i < R; ++i) store(sum[i], entry(y, i));
}
// y = A x, 8 rows at a time where a line is one register, since a vector leaves no other
// independent sums to hide the latency of the multiply-adds.
template <Put put, typename T>
HWY_INLINE void vec_product_inline(int rows, int count, const Strided<T>& A, const T* x, T* y) {
  constexpr int tile = 2 * kTile<T>;
  for (int i = 0, height; i < rows; i += height) {
    height = next_block(rows - i, tile);
    const T* a = A.p + i * A.row;
    T* out = entry(y, i);
    if constexpr (tile >= 8) {
      if (height == 8) vec_rows<put, 8>(count, a, A.row, A.col, x, out);
      if (height == 7) vec_rows<put, 7>(count, a, A.row, A.col, x, out);
      if (height == 6) vec_rows<put, 6>(count, a, A.row, A.col, x, out);
      if (height == 5) vec_rows<put, 5>(count, a, A.row, A.col, x, out);
    }
    if constexpr (tile >= 4) {
      if (height == 4) vec_rows<put, 4>(count, a, A.row, A.col, x, out);
      if (height == 3) vec_rows<put, 3>(count, a, A.row, A.col, x, out);
    }
    if (height == 2) vec_rows<put, 2>(count, a, A.row, A.col, x, out);
    if (height == 1) vec_rows<put, 1>(count, a, A.row, A.col, x, out);
  }
}
template <Put put, typename T>
HWY_NOINLINE void vec_product_call(int rows, int count, const Strided<T>& A, const T* x, T* y) {
  vec_product_inline<put>(rows, count, A, x, y);
}
template <Put put, typename T>
HWY_INLINE void vec_product(int rows, int count, const Strided<T>& A, const T* x, T* y) {
  if (__builtin_constant_p(rows) && __builtin_constant_p(count))
    vec_product_inline<put>(rows, count, A, x, y);
  else
    vec_product_call<put>(rows, count, A, x, y);
}
/// y = A x with A rows x cols.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_vec(int rows, int cols, const T* A, const T* x, T* y) {
  vec_product<put>(rows, cols, as_is(A, cols), x, y);
}
/// y = A' x with A rows x cols, so that y has `cols` entries.
template <Put put = Put::Set, typename T>
HWY_INLINE void multiply_vec_t(int rows, int cols, const T* A, const T* x, T* y) {
  vec_product<put>(cols, rows, transposed(A, cols), x, y);
}
/// C = x y' (rows x cols).
template <Put put = Put::Set, typename T>
HWY_INLINE void outer(int rows, int cols, const T* x, const T* y, T* C) {
  product<put>(rows, 1, cols, as_is(x, 1), as_is(y, cols), C);
}

/// Adjoint of C = A B. Accumulates: d_A += d_C B', d_B += A' d_C.
template <typename T>
void multiply_backward(int rows, int count, int cols, const T* A, const T* B, const T* d_C, T* d_A,
                       T* d_B) {
  multiply_nt<Put::Add>(rows, cols, count, d_C, B, d_A);
  multiply_tn<Put::Add>(count, rows, cols, A, d_C, d_B);
}

/// y = x over `count` entries, and y += scale x.
template <typename T>
HWY_INLINE void copy_lines(int count, const T* x, T* y) {
  for (int i = 0; i < count; ++i) store(load(entry(x, i)), entry(y, i));
}
template <typename T>
HWY_INLINE void set_zero(int count, T* y) {
  for (int i = 0; i < count; ++i) store(zero<T>(), entry(y, i));
}
template <typename T>
HWY_INLINE void add_scaled(int count, T scale, const T* x, T* y) {
  const Line<T> s = broadcast<T>(scale);
  for (int i = 0; i < count; ++i) store(fma(s, load(entry(x, i)), load(entry(y, i))), entry(y, i));
}
template <typename T>
HWY_INLINE void scale_lines(int count, T scale, T* y) {
  const Line<T> s = broadcast<T>(scale);
  for (int i = 0; i < count; ++i) store(s * load(entry(y, i)), entry(y, i));
}

/// P_out = F P F' + Q for symmetric P, Q (Q null: without it). All n x n; scratch: n^2 lines.
/// Cost: 1.5 n^3 multiply-adds.
template <typename T>
HWY_INLINE void sandwich(int n, const T* F, const T* P, const T* Q, T* P_out, T* scratch) {
  multiply(n, n, n, F, P, scratch);
  if (Q == nullptr) return multiply_nt_symmetric(n, n, scratch, F, P_out);
  copy_lines(n * n, Q, P_out);
  multiply_nt_symmetric<Put::Add>(n, n, scratch, F, P_out);
}

/// Adjoint of `sandwich`. Sets d_F = 2 d_out F P and d_P = F' d_out F (full symmetric); d_Q is
/// d_out itself. d_out is full symmetric. Scratch: n^2 lines. Cost: 2.5 n^3.
template <typename T>
HWY_INLINE void sandwich_backward(int n, const T* F, const T* P, const T* d_out, T* d_F, T* d_P,
                                  T* scratch) {
  multiply(n, n, n, d_out, F, scratch);
  multiply(n, n, n, scratch, P, d_F);
  scale_lines(n * n, T(2), d_F);
  multiply_tn_symmetric(n, n, F, scratch, d_P);
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
