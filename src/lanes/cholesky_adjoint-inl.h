// Adjoints of the functions of cholesky-inl.h. The filter itself uses shorter closed forms (see
// kalman/step-inl.h); these serve compositions that have none.
//
// Adjoints of symmetric matrices are full symmetric matrices, both triangles; adjoints of C are
// packed lower triangles.

#if defined(KALMIA_LANES_CHOLESKY_ADJOINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_CHOLESKY_ADJOINT_INL_H_
#undef KALMIA_LANES_CHOLESKY_ADJOINT_INL_H_
#else
#define KALMIA_LANES_CHOLESKY_ADJOINT_INL_H_
#endif

#include "lanes/cholesky-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

/// Adjoint of x = C^-1 b for `cols` right-hand sides (X, d_X: n x cols): replaces d_X by
/// d_B = C'^-1 d_X and sets d_C -= lower triangle of d_B X'.
template <typename T>
void solve_lower_backward(int n, int cols, const T* C, const T* inv, const T* X, T* d_X, T* d_C) {
  solve_upper(n, cols, C, inv, d_X);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T* d = entry(d_C, triangle_index(i, j));
      Line<T> sum = load(d);
      for (int r = 0; r < cols; ++r)
        sum = fnma(load(entry(d_X, i * cols + r)), load(entry(X, j * cols + r)), sum);
      store(sum, d);
    }
}

/// Adjoint of x = C'^-1 b: replaces d_X by d_B = C^-1 d_X and sets d_C -= lower triangle of X d_B'.
template <typename T>
void solve_upper_backward(int n, int cols, const T* C, const T* inv, const T* X, T* d_X, T* d_C) {
  solve_lower(n, cols, C, inv, d_X);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T* d = entry(d_C, triangle_index(i, j));
      Line<T> sum = load(d);
      for (int r = 0; r < cols; ++r)
        sum = fnma(load(entry(X, i * cols + r)), load(entry(d_X, j * cols + r)), sum);
      store(sum, d);
    }
}

/// Adjoint of `log_determinant`: d_C(i, i) += 2 d / C(i, i), d one line.
template <typename T>
void log_determinant_backward(int n, const T* inv, const T* d, T* d_C) {
  const Line<T> twice = load(d) + load(d);
  for (int i = 0; i < n; ++i) {
    T* d_ii = entry(d_C, triangle_index(i, i));
    store(fma(twice, load(entry(inv, i)), load(d_ii)), d_ii);
  }
}

/// Adjoint of M -> C. Sets d_M (n x n, full symmetric) from d_C (packed):
///
///   d_M = (S + S') / 2,   S = C'^-1 Phi(C' d_C) C^-1,
///   Phi: lower triangle with the diagonal halved.
///
/// Reference: Murray (2016), "Differentiation of the Cholesky decomposition". Scratch: n^2 lines.
template <typename T>
void cholesky_backward(int n, const T* C, const T* inv, const T* d_C, T* d_M, T* scratch) {
  T* S = scratch;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      Line<T> sum = zero<T>();
      if (j <= i)
        for (int k = i; k < n; ++k)
          sum = fma(load(entry(C, triangle_index(k, i))), load(entry(d_C, triangle_index(k, j))),
                    sum);
      store(i == j ? sum * broadcast(T(0.5)) : sum, entry(S, i * n + j));
    }
  solve_upper(n, n, C, inv, S);  // S = C'^-1 Phi
  // S = S C^-1: each row s solves C' s' = row'.
  solve_strided<Side::Upper>(n, n, C, inv, S, static_cast<std::ptrdiff_t>(n) * kLineLanes<T>,
                             kLineLanes<T>);
  const Line<T> half = broadcast(T(0.5));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const Line<T> value = half * (load(entry(S, i * n + j)) + load(entry(S, j * n + i)));
      store(value, entry(d_M, i * n + j));
      store(value, entry(d_M, j * n + i));
    }
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
