// Lower triangular line matrices in packed storage: entry (i, j), j <= i, is line
// triangle_index(i, j). Products of a triangle with its transpose, and their adjoint.
//
// Adjoints of symmetric matrices are full symmetric matrices, both triangles.

#if defined(KALMIA_LANES_TRIANGLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_TRIANGLE_INL_H_
#undef KALMIA_LANES_TRIANGLE_INL_H_
#else
#define KALMIA_LANES_TRIANGLE_INL_H_
#endif

#include <type_traits>

#include "lanes/small_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

/// Calls f with `size`, which is in 1..kTile<T>, as a compile-time constant.
template <typename T, typename Function>
HWY_INLINE void with_tile_size(int size, Function f) {
  if constexpr (kTile<T> >= 4) {
    if (size == 4) return f(std::integral_constant<int, 4>());
    if (size == 3) return f(std::integral_constant<int, 3>());
  }
  if constexpr (kTile<T> >= 2) {
    if (size == 2) return f(std::integral_constant<int, 2>());
  }
  f(std::integral_constant<int, 1>());
}

/// C (packed) = lower triangle of M (n x n).
template <typename T>
HWY_INLINE void pack_lower(int n, const T* M, T* C) {
  for (int i = 0; i < n; ++i) copy_lines(i + 1, entry(M, i * n), entry(C, triangle_index(i, 0)));
}

// One tile of Q = L L'. Up to k = j0 all entries of the tile's rows of L exist; beyond, only those
// on or below the diagonal.
template <Part part, int TI, int TJ, typename T>
HWY_INLINE void gram_tile(Put put, int n, int i0, int j0, const T* L, T* Q) {
  const T* a[TI];
  const T* b[TJ];
  Tile<TI, TJ, T> acc;
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) a[i] = entry(L, triangle_index(i0 + i, 0));
  HWY_UNROLL(4)
  for (int j = 0; j < TJ; ++j) b[j] = entry(L, triangle_index(j0 + j, 0));
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) acc.v[i][j] = zero<T>();
  }
  accumulate<TI, TJ, T>(acc, j0 + 1, a, kLineLanes<T>, b, kLineLanes<T>);
  HWY_UNROLL(4)
  for (int k = 1; k < TJ; ++k) {
    HWY_UNROLL(4)
    for (int i = part == Part::LowerAndMirror ? k : 0; i < TI; ++i) {
      const Line<T> l = load(entry(a[i], j0 + k));
      HWY_UNROLL(4)
      for (int j = k; j < TJ; ++j) acc.v[i][j] = fma(l, load(entry(b[j], j0 + k)), acc.v[i][j]);
    }
  }
  store_tile<part>(put, acc, entry(Q, i0 * n + j0), entry(Q, j0 * n + i0),
                   static_cast<std::ptrdiff_t>(n) * kLineLanes<T>);
}

template <typename T>
HWY_INLINE void gram_lower_inline(Put put, int n, const T* L, T* Q) {
  for (int i = 0, height; i < n; i += height) {
    height = next_block(n - i, kTile<T>);
    with_tile_size<T>(height, [&](auto rows) HWY_ATTR {
      constexpr int TI = decltype(rows)::value;
      for (int j = 0, width; j < i; j += width) {
        width = next_block(n - j, kTile<T>);
        with_tile_size<T>(width, [&](auto cols) HWY_ATTR {
          gram_tile<Part::WholeAndMirror, TI, decltype(cols)::value>(put, n, i, j, L, Q);
        });
      }
      gram_tile<Part::LowerAndMirror, TI, TI>(put, n, i, i, L, Q);
    });
  }
}

template <typename T>
HWY_NOINLINE void gram_lower_call(Put put, int n, const T* L, T* Q) {
  gram_lower_inline(put, n, L, Q);
}
/// Q = L L' (n x n, both triangles), L packed; or +=, -= onto a symmetric Q. Cost: n^3 / 6.
template <Put put = Put::Set, typename T>
HWY_INLINE void gram_lower(int n, const T* L, T* Q) {
  if (KALMIA_KNOWN(n))
    gram_lower_inline(put, n, L, Q);
  else
    gram_lower_call(put, n, L, Q);
}

// One tile of d_L = 2 d_Q L: L(k, j) exists for k >= j only.
template <bool diagonal, int TI, int TJ, typename T>
HWY_INLINE void gram_backward_tile(Put put, int n, int i0, int j0, const T* L, const T* d_Q,
                                   T* d_L) {
  const T* a[TI];
  Tile<TI, TJ, T> acc;
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    a[i] = entry(d_Q, (i0 + i) * n);
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) acc.v[i][j] = zero<T>();
  }
  HWY_UNROLL(4)
  for (int k = 0; k < TJ - 1; ++k) {
    HWY_UNROLL(4)
    for (int i = 0; i < TI; ++i) {
      const Line<T> d = load(entry(a[i], j0 + k));
      HWY_UNROLL(4)
      for (int j = 0; j <= k; ++j)
        acc.v[i][j] = fma(d, load(entry(L, triangle_index(j0 + k, j0 + j))), acc.v[i][j]);
    }
  }
  const T* l = entry(L, triangle_index(j0 + TJ - 1, j0));
  for (int k = j0 + TJ - 1; k < n; l = entry(l, ++k)) {
    HWY_UNROLL(4)
    for (int i = 0; i < TI; ++i) {
      const Line<T> d = load(entry(a[i], k));
      HWY_UNROLL(4)
      for (int j = 0; j < TJ; ++j) acc.v[i][j] = fma(d, load(entry(l, j)), acc.v[i][j]);
    }
  }
  HWY_UNROLL(4)
  for (int i = 0; i < TI; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < TJ; ++j) {
      if (diagonal && j > i) continue;
      T* out = entry(d_L, triangle_index(i0 + i, j0 + j));
      Line<T> value = acc.v[i][j] + acc.v[i][j];
      if (put == Put::Add) value = load(out) + value;
      if (put == Put::Sub) value = load(out) - value;
      store(value, out);
    }
  }
}

template <typename T>
HWY_INLINE void gram_lower_backward_inline(Put put, int n, const T* L, const T* d_Q, T* d_L) {
  for (int i = 0, height; i < n; i += height) {
    height = next_block(n - i, kTile<T>);
    with_tile_size<T>(height, [&](auto rows) HWY_ATTR {
      constexpr int TI = decltype(rows)::value;
      for (int j = 0, width; j < i; j += width) {
        width = next_block(n - j, kTile<T>);
        with_tile_size<T>(width, [&](auto cols) HWY_ATTR {
          gram_backward_tile<false, TI, decltype(cols)::value>(put, n, i, j, L, d_Q, d_L);
        });
      }
      gram_backward_tile<true, TI, TI>(put, n, i, i, L, d_Q, d_L);
    });
  }
}

template <typename T>
HWY_NOINLINE void gram_lower_backward_call(Put put, int n, const T* L, const T* d_Q, T* d_L) {
  gram_lower_backward_inline(put, n, L, d_Q, d_L);
}
/// Adjoint of `gram_lower`: d_L (packed) = lower triangle of 2 d_Q L, or +=. d_Q is full symmetric.
/// Cost: n^3 / 3.
template <Put put = Put::Set, typename T>
HWY_INLINE void gram_lower_backward(int n, const T* L, const T* d_Q, T* d_L) {
  if (KALMIA_KNOWN(n))
    gram_lower_backward_inline(put, n, L, d_Q, d_L);
  else
    gram_lower_backward_call(put, n, L, d_Q, d_L);
}

// The calls in double are compiled once, in small_matrix.cpp.
#define KALMIA_TRIANGLE_CALLS(keyword, T)                           \
  keyword template void gram_lower_call<T>(Put, int, const T*, T*); \
  keyword template void gram_lower_backward_call<T>(Put, int, const T*, const T*, T*)
KALMIA_TRIANGLE_CALLS(extern, double);

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
