// Cholesky factors of small matrices, one per lane: factor, triangular solves, log-determinant,
// inverse, each with its adjoint.
//
// M = C C', C lower triangular in packed storage (triangle_index). Beside C the functions take
// `inv`, the n reciprocals of its diagonal, computed once: n divisions in all.
//
// Failure: a lane whose matrix is not positive definite (a pivot that is not > 0, is infinite or
// NaN) gets its bit set; from that pivot on C and inv are NaN in that lane, hence so is everything
// solved with them. The other lanes are unaffected.
//
// Adjoints of symmetric matrices are full symmetric matrices, both triangles; adjoints of C are
// packed lower triangles.

#if defined(KALMIA_LANES_CHOLESKY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_CHOLESKY_INL_H_
#undef KALMIA_LANES_CHOLESKY_INL_H_
#else
#define KALMIA_LANES_CHOLESKY_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "lanes/triangle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

/// All lanes of a line.
template <typename T>
inline constexpr LaneBits kAllLanes = (LaneBits{1} << kLineLanes<T>)-1;

/// log(a) for a > 0, NaN otherwise. Max error: 2 ulp (Highway's Log).
template <typename T>
HWY_INLINE Line<T> log_positive(const Line<T>& a) {
  Line<T> out;
  for (int i = 0; i < Line<T>::kVecs; ++i) out.v[i] = hn::Log(LineTag<T>(), a.v[i]);
  return select(greater(a, zero<T>()), out, broadcast(std::numeric_limits<T>::quiet_NaN()));
}

// What Cholesky does with a pivot that is zero up to rounding.
enum class Pivots { Positive, Semidefinite };

// Replaces a pivot by its root and gives the reciprocal of the root. Semidefinite: with d the
// diagonal entry the pivot came from, a pivot in [-d/2, 4 n eps d] is rounding and gives 0 and 0,
// which drops the direction from all later solves; one that is further below zero fails. (Earlier
// pivots may be as small as rounding, and amplify it to any size: a motion that is measured sharply
// after a jump of a million steps has a last pivot of -5e-5 d.)
template <Pivots pivots, typename T>
HWY_INLINE void take_root(const Line<T>& diagonal, int n, T* pivot, T* inv) {
  const Line<T> nan = broadcast(std::numeric_limits<T>::quiet_NaN());
  const Line<T> p = load(pivot);
  const Line<T> finite = select(greater(broadcast(std::numeric_limits<T>::infinity()), p), p, nan);
  const LineMask<T> good = greater(finite, zero<T>());
  Line<T> root = select(good, sqrt(finite), nan);
  Line<T> reciprocal = broadcast(T(1)) / root;
  if constexpr (pivots == Pivots::Semidefinite) {
    const T above = T(4) * static_cast<T>(n) * std::numeric_limits<T>::epsilon();
    const T below = T(0.5);
    const Line<T> d = abs(diagonal);
    const LineMask<T> large = greater(finite, broadcast(above) * d);
    // Comparisons that are false for NaN, so that a NaN stays one. -p - below d <= 0 is rounding.
    const Line<T> excess = fnma(broadcast(below), d, -finite);
    const LineMask<T> indefinite = greater(excess, zero<T>());
    const LineMask<T> number = greater(abs(finite) + broadcast(T(1)), zero<T>());
    const Line<T> dropped = select(indefinite, nan, select(number, zero<T>(), nan));
    root = select(large, root, dropped);
    reciprocal = select(large, reciprocal, dropped);
  }
  store(root, pivot);
  store(reciprocal, inv);
}

// C(i, j) -= sum over k < j0 of C(i, k) C(j, k) for a tile at (i0, j0).
template <int TI, int TJ, typename T>
HWY_INLINE void cholesky_tile(int i0, int j0, T* C) {
  const T* a[TI];
  const T* b[TJ];
  Tile<TI, TJ, T> acc;
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) a[i] = entry(C, triangle_index(i0 + i, 0));
  HWY_UNROLL(4)
  for (int j = 0; j < TJ; ++j) b[j] = entry(C, triangle_index(j0 + j, 0));
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) acc.v[i][j] = zero<T>();
  }
  accumulate<TI, TJ, T>(acc, j0, a, kLineLanes<T>, b, kLineLanes<T>);
  for (int i = 0; i < TI; ++i)
    for (int j = 0; j < TJ && j0 + j <= i0 + i; ++j) {
      T* c = entry(C, triangle_index(i0 + i, j0 + j));
      store(load(c) - acc.v[i][j], c);
    }
}

template <Pivots pivots, typename T>
[[nodiscard]] HWY_INLINE LaneBits cholesky_inline(int n, T* C, T* inv) {
  if constexpr (pivots == Pivots::Semidefinite)  // inv keeps the diagonal until its pivot's turn
    for (int i = 0; i < n; ++i) copy_lines(1, entry(C, triangle_index(i, i)), entry(inv, i));
  for (int j0 = 0, width; j0 < n; j0 += width) {
    width = next_block(n - j0, kTile<T>);
    for (int i0 = j0, height; i0 < n; i0 += height) {
      height = next_block(n - i0, kTile<T>);
      if (j0 > 0)
        with_tile_size<T>(height, [&](auto rows) HWY_ATTR {
          with_tile_size<T>(width, [&](auto cols) HWY_ATTR {
            cholesky_tile<decltype(rows)::value, decltype(cols)::value>(i0, j0, C);
          });
        });
      for (int j = j0; j < j0 + width; ++j) {
        const T* c_j = entry(C, triangle_index(j, 0));
        for (int i = i0 > j ? i0 : j; i < i0 + height; ++i) {
          T* c_i = entry(C, triangle_index(i, 0));
          Line<T> value = load(entry(c_i, j));
          for (int k = j0; k < j; ++k)
            value = fnma(load(entry(c_i, k)), load(entry(c_j, k)), value);
          if (i > j) {
            store(value * load(entry(inv, j)), entry(c_i, j));
          } else {
            store(value, entry(c_i, j));
            take_root<pivots>(load(entry(inv, j)), n, entry(c_i, j), entry(inv, j));
          }
        }
      }
    }
  }
  // A NaN pivot makes every later pivot NaN: the last one tells.
  if (n == 0) return 0;
  const Line<T> last = load(entry(inv, n - 1));
  return kAllLanes<T> & ~bits_of(greater(last + broadcast(T(1)), zero<T>()));
}

template <Pivots pivots, typename T>
[[nodiscard]] HWY_NOINLINE LaneBits cholesky_call(int n, T* C, T* inv) {
  return cholesky_inline<pivots>(n, C, inv);
}
/// Replaces the packed lower triangle of M by that of C, M = C C', and sets inv (n lines).
/// Returns the bits of the lanes that failed. Cost: n^3 / 6 multiply-adds, n roots, n divisions.
/// With Pivots::Semidefinite (see take_root) M may be singular: dropped directions have a zero
/// column in C, and the solves give a solution wherever the right-hand side is in M's range.
template <Pivots pivots = Pivots::Positive, typename T>
[[nodiscard]] HWY_INLINE LaneBits cholesky(int n, T* C, T* inv) {
  if (KALMIA_KNOWN(n)) return cholesky_inline<pivots>(n, C, inv);
  return cholesky_call<pivots>(n, C, inv);
}

/// S (n x n, zeros above the diagonal): the Cholesky factor of a covariance P that may be singular
/// (Pivots::Semidefinite), P = S S'. A lane whose P is indefinite gets NaN. C: packed, inv: n lines
/// of scratch. Cost: as `cholesky`.
template <typename T>
HWY_INLINE void covariance_root(int n, const T* P, T* S, T* C, T* inv) {
  pack_lower(n, P, C);
  static_cast<void>(cholesky<Pivots::Semidefinite>(n, C, inv));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      store(j <= i ? load(entry(C, triangle_index(i, j))) : zero<T>(), entry(S, i * n + j));
}

/// inv = reciprocals of C's diagonal, where only C was kept.
template <typename T>
HWY_INLINE void reciprocal_diagonal(int n, const T* C, T* inv) {
  const Line<T> one = broadcast(T(1));
  for (int i = 0; i < n; ++i) store(one / load(entry(C, triangle_index(i, i))), entry(inv, i));
}

// R right-hand sides at once: component i of the r-th is at B + r step + i stride.
template <int R, typename T>
HWY_INLINE void solve_lower_block(int n, const T* C, const T* inv, T* B, std::ptrdiff_t step,
                                  std::ptrdiff_t stride) {
  for (int i = 0; i < n; ++i) {
    const T* c = entry(C, triangle_index(i, 0));
    Line<T> x[R];
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) x[r] = load(B + r * step + i * stride);
    for (int k = 0; k < i; ++k) {
      const Line<T> c_k = load(entry(c, k));
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) x[r] = fnma(c_k, load(B + r * step + k * stride), x[r]);
    }
    const Line<T> reciprocal = load(entry(inv, i));
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) store(x[r] * reciprocal, B + r * step + i * stride);
  }
}
template <int R, typename T>
HWY_INLINE void solve_upper_block(int n, const T* C, const T* inv, T* B, std::ptrdiff_t step,
                                  std::ptrdiff_t stride) {
  for (int i = n - 1; i >= 0; --i) {
    Line<T> x[R];
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) x[r] = load(B + r * step + i * stride);
    for (int k = i + 1; k < n; ++k) {
      const Line<T> c_k = load(entry(C, triangle_index(k, i)));
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) x[r] = fnma(c_k, load(B + r * step + k * stride), x[r]);
    }
    const Line<T> reciprocal = load(entry(inv, i));
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) store(x[r] * reciprocal, B + r * step + i * stride);
  }
}

/// Which of the two triangular systems: C x = b or C' x = b.
enum class Side { Lower, Upper };

template <Side side, typename T>
HWY_INLINE void solve_strided_inline(int n, int count, const T* C, const T* inv, T* B,
                                     std::ptrdiff_t step, std::ptrdiff_t stride) {
  for (int r = 0, size; r < count; r += size) {
    size = next_block(count - r, kTile<T>);
    with_tile_size<T>(size, [&](auto rows) HWY_ATTR {
      constexpr int R = decltype(rows)::value;
      if constexpr (side == Side::Lower)
        solve_lower_block<R>(n, C, inv, B + r * step, step, stride);
      else
        solve_upper_block<R>(n, C, inv, B + r * step, step, stride);
    });
  }
}

template <Side side, typename T>
HWY_NOINLINE void solve_strided_call(int n, int count, const T* C, const T* inv, T* B,
                                     std::ptrdiff_t step, std::ptrdiff_t stride) {
  solve_strided_inline<side>(n, count, C, inv, B, step, stride);
}
template <Side side, typename T>
HWY_INLINE void solve_strided(int n, int count, const T* C, const T* inv, T* B, std::ptrdiff_t step,
                              std::ptrdiff_t stride) {
  if (KALMIA_KNOWN(n) && KALMIA_KNOWN(count))
    solve_strided_inline<side>(n, count, C, inv, B, step, stride);
  else
    solve_strided_call<side>(n, count, C, inv, B, step, stride);
}

// The calls in double are compiled once, in small_matrix.cpp.
#define KALMIA_CHOLESKY_CALLS(keyword, pivots, side, T)                               \
  keyword template LaneBits cholesky_call<pivots, T>(int, T*, T*);                    \
  keyword template void solve_strided_call<side, T>(int, int, const T*, const T*, T*, \
                                                    std::ptrdiff_t, std::ptrdiff_t)
KALMIA_CHOLESKY_CALLS(extern, Pivots::Positive, Side::Lower, double);
KALMIA_CHOLESKY_CALLS(extern, Pivots::Semidefinite, Side::Upper, double);

/// b = C^-1 b, in place.
template <typename T>
HWY_INLINE void solve_lower_vec(int n, const T* C, const T* inv, T* b) {
  solve_lower_block<1>(n, C, inv, b, 0, kLineLanes<T>);
}
/// b = C'^-1 b, in place.
template <typename T>
HWY_INLINE void solve_upper_vec(int n, const T* C, const T* inv, T* b) {
  solve_upper_block<1>(n, C, inv, b, 0, kLineLanes<T>);
}
/// B = C^-1 B with B n x cols, in place. Cost: n^2 cols / 2.
template <typename T>
HWY_INLINE void solve_lower(int n, int cols, const T* C, const T* inv, T* B) {
  solve_strided<Side::Lower>(n, cols, C, inv, B, kLineLanes<T>,
                             static_cast<std::ptrdiff_t>(cols) * kLineLanes<T>);
}
/// B = C'^-1 B with B n x cols, in place.
template <typename T>
HWY_INLINE void solve_upper(int n, int cols, const T* C, const T* inv, T* B) {
  solve_strided<Side::Upper>(n, cols, C, inv, B, kLineLanes<T>,
                             static_cast<std::ptrdiff_t>(cols) * kLineLanes<T>);
}
/// B = B M^-1 = B C'^-1 C^-1 with B rows x n, in place. Cost: n^2 rows.
template <typename T>
HWY_INLINE void solve_right(int rows, int n, const T* C, const T* inv, T* B) {
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(n) * kLineLanes<T>;
  solve_strided<Side::Lower>(n, rows, C, inv, B, step, kLineLanes<T>);
  solve_strided<Side::Upper>(n, rows, C, inv, B, step, kLineLanes<T>);
}

/// log det M = 2 sum of log C(i, i). A product of two roots neither overflows nor vanishes, so
/// one logarithm serves two pivots.
template <typename T>
HWY_INLINE Line<T> log_determinant(int n, const T* C) {
  Line<T> sum = zero<T>();
  for (int i = 0; i < n; i += 2) {
    Line<T> root = load(entry(C, triangle_index(i, i)));
    if (i + 1 < n) root = root * load(entry(C, triangle_index(i + 1, i + 1)));
    sum = sum + log_positive(root);
  }
  return sum + sum;
}

/// W = M^-1 (n x n, both triangles with the same bits). Scratch: triangle_size(n) lines.
/// W = X' X with X = C^-1. Cost: n^3 / 3.
template <typename T>
HWY_INLINE void cholesky_inverse(int n, const T* C, const T* inv, T* W, T* scratch) {
  T* X = scratch;
  for (int j = 0; j < n; ++j) {
    store(load(entry(inv, j)), entry(X, triangle_index(j, j)));
    for (int i = j + 1; i < n; ++i) {
      Line<T> sum = zero<T>();
      for (int k = j; k < i; ++k)
        sum = fnma(load(entry(C, triangle_index(i, k))), load(entry(X, triangle_index(k, j))), sum);
      store(sum * load(entry(inv, i)), entry(X, triangle_index(i, j)));
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      Line<T> sum = zero<T>();
      for (int k = i; k < n; ++k)
        sum = fma(load(entry(X, triangle_index(k, i))), load(entry(X, triangle_index(k, j))), sum);
      store(sum, entry(W, i * n + j));
      store(sum, entry(W, j * n + i));
    }
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
