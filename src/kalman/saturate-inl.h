// Predictions are no wider than what is predicted ever was, and the adjoint of that, for one line
// of lanes.
//
// A linearised map can spread a prediction without limit where the states themselves stay within
// bounds: a chaotic one does so e-fold in every Lyapunov time. Where the deviation of a state
// exceeds its spread s in the training data, the prediction is drawn toward its mean m there, so
// far that it does not:
//
//   g_i = min(1, s_i / sqrt(P_ii)),   x_i <- m_i + g_i (x_i - m_i),   P_ij <- g_i g_j P_ij
//
// That is a linear map of the state, so that filter and smoother stay right: F <- G F and
// Q <- G Q G lead to the same prediction.

#if defined(KALMIA_KALMAN_SATURATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_SATURATE_INL_H_
#undef KALMIA_KALMAN_SATURATE_INL_H_
#else
#define KALMIA_KALMAN_SATURATE_INL_H_
#endif

#include "lanes/small_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using ln::entry;

// Sets g (N lines) from P's diagonal; 1 but in the lanes of `bound`. `spread`: N numbers, infinity
// where a state is not bound. Returns whether any g is below 1.
template <typename T>
HWY_INLINE bool saturation(int N, const double* spread, const ln::LineMask<T>& bound, const T* P,
                           T* g) {
  bool any = false;
  const ln::Line<T> one = ln::broadcast(T(1));
  for (int i = 0; i < N; ++i) {
    const ln::Line<T> s = ln::broadcast(static_cast<T>(spread[i]));
    const ln::Line<T> variance = ln::load(entry(P, i * N + i));
    const ln::LineMask<T> wide = ln::greater(variance, s * s);
    ln::store(ln::select(bound, ln::select(wide, s / ln::sqrt(variance), one), one), entry(g, i));
    any = any || ln::bits_of(ln::greater(one, ln::load(entry(g, i)))) != 0;
  }
  return any;
}

// x <- m + G (x - m), P <- G P G. Lanes and states whose g is 1 keep their bits.
template <typename T>
HWY_INLINE void saturate_forward(int N, const double* mean, const T* g, T* x, T* P) {
  const ln::Line<T> one = ln::broadcast(T(1));
  for (int i = 0; i < N; ++i) {
    const ln::Line<T> m = ln::broadcast(static_cast<T>(mean[i]));
    const ln::Line<T> g_i = ln::load(entry(g, i));
    const ln::Line<T> x_i = ln::load(entry(x, i));
    ln::store(ln::select(ln::greater(one, g_i), ln::fma(g_i, x_i - m, m), x_i), entry(x, i));
    for (int j = 0; j < N; ++j)
      ln::store(g_i * ln::load(entry(g, j)) * ln::load(entry(P, i * N + j)), entry(P, i * N + j));
  }
}

// F <- G F, Q <- G Q G: the transition that leads to the saturated prediction.
template <typename T>
HWY_INLINE void saturate_transition(int N, const T* g, T* F, T* Q) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      ln::store(ln::load(entry(g, i)) * ln::load(entry(F, i * N + j)), entry(F, i * N + j));
      ln::store(ln::load(entry(g, i)) * ln::load(entry(g, j)) * ln::load(entry(Q, i * N + j)),
                entry(Q, i * N + j));
    }
}

// Adjoint of `saturate_forward` with `saturation`: d_x and d_P, those of the saturated x and P,
// become those of x and P as they were. g follows P_ii where it is below 1:
//
//   d_P_ij <- g_i g_j d_P_ij,   d_x_i <- g_i d_x_i,
//   d_P_ii += -1/2 (g_i / s_i)^2 (d_x_i (x_i - m_i) + 2 sum_j d_P_ij P_ij)
//
// with the saturated x, P and their adjoints in the bracket. Scratch: N lines.
template <typename T>
HWY_INLINE void saturate_backward(int N, const double* mean, const double* spread, const T* g,
                                  const T* x, const T* P, T* d_x, T* d_P, T* scratch) {
  const ln::Line<T> one = ln::broadcast(T(1));
  for (int i = 0; i < N; ++i) {
    const ln::Line<T> g_i = ln::load(entry(g, i));
    ln::Line<T> sum = ln::zero<T>();
    for (int j = 0; j < N; ++j)
      sum = ln::fma(ln::load(entry(d_P, i * N + j)), ln::load(entry(P, i * N + j)), sum);
    const ln::Line<T> away = ln::load(entry(x, i)) - ln::broadcast(static_cast<T>(mean[i]));
    sum = ln::fma(ln::load(entry(d_x, i)), away, sum + sum);
    const ln::Line<T> ratio = g_i / ln::broadcast(static_cast<T>(spread[i]));
    ln::store(ln::select(ln::greater(one, g_i), ln::broadcast(T(-0.5)) * ratio * ratio * sum,
                         ln::zero<T>()),
              entry(scratch, i));
  }
  for (int i = 0; i < N; ++i) {
    ln::store(ln::load(entry(g, i)) * ln::load(entry(d_x, i)), entry(d_x, i));
    for (int j = 0; j < N; ++j)
      ln::store(ln::load(entry(g, i)) * ln::load(entry(g, j)) * ln::load(entry(d_P, i * N + j)),
                entry(d_P, i * N + j));
    ln::store(ln::load(entry(d_P, i * N + i)) + ln::load(entry(scratch, i)), entry(d_P, i * N + i));
  }
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
