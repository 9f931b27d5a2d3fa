// Robust weights of a measurement's components: Student-t noise by way of a Gaussian update whose
// noise is scaled, for one line of lanes.

#if defined(KALMIA_KALMAN_ROBUST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_ROBUST_INL_H_
#undef KALMIA_KALMAN_ROBUST_INL_H_
#else
#define KALMIA_KALMAN_ROBUST_INL_H_
#endif

#include "kalman/robust.hpp"
#include "kalman/update_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

// R_eff = D^-1/2 R D^-1/2, D = diag(weights): the noise of the update that counts component i by
// weights[i]. With the weights held fixed the map is its own adjoint: Put::Add takes d_R_eff to
// d_R.
template <Put put = Put::Set, typename T>
HWY_INLINE void scale_noise(int M, const T* weights, const T* R, T* R_eff) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j <= i; ++j) {
      const ln::Line<T> w =
          i == j ? ln::load(entry(weights, i))
                 : ln::sqrt(ln::load(entry(weights, i)) * ln::load(entry(weights, j)));
      ln::Line<T> value = ln::load(entry(R, i * M + j)) / w;
      if constexpr (put == Put::Add) value = ln::load(entry(R_eff, i * M + j)) + value;
      ln::store(value, entry(R_eff, i * M + j));
      ln::store(value, entry(R_eff, j * M + i));
    }
}

// The innovation in measurement space, masked: r = y - y_pred and B = H P_pred H' with zeros, R
// with the identity where a component is missing. G: N x M lines of scratch.
template <typename T>
HWY_INLINE void masked_innovation(const LaneEmission<T>& h, const T* y, const T* observed,
                                  const T* x_pred, const T* P_pred, T* r, T* B, T* R, T* G) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  const ln::Line<T> none = ln::zero<T>();
  ln::multiply_nt(N, N, M, P_pred, h.H, G);
  ln::multiply_symmetric<Put::Set, T>(M, N, h.H, G, B);
  ln::copy_lines(M * M, h.R, R);
  for (int i = 0; i < M; ++i)
    ln::store(ln::load(entry(y, i)) - predicted_measurement(h, i, x_pred), entry(r, i));
  if (observed == nullptr) return;
  for (int i = 0; i < M; ++i) {
    const ln::LineMask<T> seen = is_observed(observed, i);
    ln::store(ln::select(seen, ln::load(entry(r, i)), none), entry(r, i));
    for (int j = 0; j < M; ++j) {
      const ln::Line<T> identity = i == j ? ln::broadcast(T(1)) : none;
      for (const int k : {i * M + j, j * M + i}) {
        ln::store(ln::select(seen, ln::load(entry(B, k)), none), entry(B, k));
        ln::store(ln::select(seen, ln::load(entry(R, k)), identity), entry(R, k));
      }
    }
  }
}

// Weights of the components for noise r_i ~ t_nu(0, R_ii), which is Gaussian of variance R_ii / w_i
// with w_i ~ Gamma(nu / 2, nu / 2). Given the weights, the state follows from the update with R_eff
// (`scale_noise`); given the state, the expected weights are
//
//   w_i = (nu + 1) / (nu + (e_i^2 + (H P_filt H')_ii) / R_ii),   e = y - H x_filt
//
// (variational Bayes; with w held fixed the gradient of its bound is that of the update with
// R_eff). The two alternate `iterations` times from w_i = (nu + 1) / (nu + r_i^2 / S_ii). The state
// is only needed as H shows it: with B = H P_pred H' and S = B + R_eff,
//
//   e = R_eff S^-1 r,   H P_filt H' = R_eff S^-1 B
//
// Shapes:  weights (M, set; 1 where missing); the rest as in update_forward.
// Scratch: robust_scratch_lines(N, M). Cost: N^2 M + N M^2 / 2, and 4/3 M^3 per iteration.
// Failure: a lane whose S is not positive definite gets its bit set and NaN weights.
template <typename T>
[[nodiscard]] HWY_INLINE LaneBits robust_weights(const LaneEmission<T>& h,
                                                 const RobustOptions& options, const T* y,
                                                 const T* observed, const T* x_pred,
                                                 const T* P_pred, T* weights, T* scratch) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  lanes::LineTaker<T> taker(scratch);
  RobustWeightLines<T> w;
  w.lay_out(taker, N, M);
  T *B = w.B, *R = w.R, *R_eff = w.R_eff, *X = w.X, *C = w.C, *inv = w.inv, *r = w.r, *v = w.v;
  const ln::Line<T> nu = ln::broadcast(static_cast<T>(options.degrees_of_freedom));
  const ln::Line<T> one = ln::broadcast(T(1));
  const auto set_weight = [&](int i, const ln::Line<T>& square, const ln::Line<T>& scale) HWY_ATTR {
    const ln::Line<T> weight = (nu + one) / (nu + square / scale);
    ln::store(observed == nullptr ? weight : ln::select(is_observed(observed, i), weight, one),
              entry(weights, i));
  };

  masked_innovation<T>(h, y, observed, x_pred, P_pred, r, B, R, w.G);
  for (int i = 0; i < M; ++i) {
    const ln::Line<T> r_i = ln::load(entry(r, i));
    set_weight(i, r_i * r_i, ln::load(entry(B, i * M + i)) + ln::load(entry(R, i * M + i)));
  }
  LaneBits failed = 0;
  for (int k = 0; k < options.iterations; ++k) {
    scale_noise<Put::Set, T>(M, weights, R, R_eff);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j <= i; ++j)
        ln::store(ln::load(entry(B, i * M + j)) + ln::load(entry(R_eff, i * M + j)),
                  entry(C, lanes::triangle_index(i, j)));
    failed |= ln::cholesky(M, C, inv);
    ln::copy_lines(M, r, v);
    ln::solve_lower_vec(M, C, inv, v);
    ln::solve_upper_vec(M, C, inv, v);
    ln::copy_lines(M * M, B, X);
    ln::solve_lower(M, M, C, inv, X);
    ln::solve_upper(M, M, C, inv, X);
    for (int i = 0; i < M; ++i) {
      ln::Line<T> e = ln::zero<T>();
      ln::Line<T> variance = ln::zero<T>();
      for (int j = 0; j < M; ++j) {
        const ln::Line<T> noise = ln::load(entry(R_eff, i * M + j));
        e = ln::fma(noise, ln::load(entry(v, j)), e);
        variance = ln::fma(noise, ln::load(entry(X, j * M + i)), variance);
      }
      set_weight(i, ln::fma(e, e, variance), ln::load(entry(R, i * M + i)));
    }
  }
  return failed;
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
