// One backward step of the Rauch-Tung-Striebel smoother, for one line of lanes.

#if defined(KALMIA_KALMAN_RTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_RTS_INL_H_
#undef KALMIA_KALMAN_RTS_INL_H_
#else
#define KALMIA_KALMAN_RTS_INL_H_
#endif

#include "kalman/scratch.hpp"
#include "lanes/cholesky-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::LaneBits;
using lanes::Put;
using ln::entry;

// J = P_filt F' P_pred^-1 (N x N). C: packed, inv: N lines of scratch. P_pred may be singular: only
// its range is used. Returns the lanes whose P_pred is indefinite or NaN.
template <typename T>
[[nodiscard]] LaneBits rts_gain(int N, const T* F, const T* P_filt, const T* P_pred, T* J, T* C,
                                T* inv) {
  ln::pack_lower(N, P_pred, C);
  const LaneBits failed = ln::cholesky<ln::Pivots::Semidefinite>(N, C, inv);
  ln::multiply_nt(N, N, N, P_filt, F, J);
  ln::solve_right(N, N, static_cast<const T*>(C), static_cast<const T*>(inv), J);
  return failed;
}

// x_out = x_filt + J (x_smooth - x_pred). step: N lines of scratch.
template <typename T>
HWY_INLINE void rts_mean(int N, const T* J, const T* x_filt, const T* x_pred, const T* x_smooth,
                         T* x_out, T* step) {
  for (int n = 0; n < N; ++n)
    ln::store(ln::load(entry(x_smooth, n)) - ln::load(entry(x_pred, n)), entry(step, n));
  ln::copy_lines(N, x_filt, x_out);
  ln::multiply_vec<Put::Add>(N, N, J, static_cast<const T*>(step), x_out);
}

// P_out = (I - J F) P_filt (I - J F)' + J Y J' with Y = P_smooth + Q, each term as a product with
// its own transpose (see predict_covariance). Scratch: rts_covariance_lines(N).
template <typename T>
HWY_INLINE void rts_covariance(int N, const T* F, const T* J, const T* P_filt, const T* Y, T* P_out,
                               T* scratch) {
  lanes::LineTaker<T> taker(scratch);
  RtsCovarianceLines<T> w;
  w.lay_out(taker, N);
  T *X = w.X, *S = w.S, *XS = w.XS;
  ln::set_zero(N * N, X);
  for (int n = 0; n < N; ++n) ln::store(ln::broadcast(T(1)), entry(X, n * N + n));
  ln::multiply<Put::Sub>(N, N, N, J, F, X);
  ln::covariance_root(N, P_filt, S, w.C, w.inv);
  ln::multiply<Put::Set, T>(N, N, N, X, S, XS);
  ln::multiply_nt_symmetric<Put::Set, T>(N, N, XS, XS, P_out);
  ln::covariance_root(N, Y, S, w.C, w.inv);
  ln::multiply<Put::Set, T>(N, N, N, J, S, XS);
  ln::multiply_nt_symmetric<Put::Add, T>(N, N, XS, XS, P_out);
}

// One backward step, k -> k-1 (Rauch, Tung & Striebel 1965):
//
//   J      = P_filt[k-1] F' P_pred^-1
//   z[k-1] = x_filt[k-1] + J (z[k] - x_pred)
//   G[k-1] = P_filt[k-1] + J (G[k] - P_pred) J'
//          = (I - J F) P_filt[k-1] (I - J F)' + J (G[k] + Q) J'
//
// The last form is evaluated: a sum of positive semi-definite terms for any J, so that rounding in
// J cannot make G indefinite. Q is the step's own, never P_pred - F P_filt F', which may be nothing
// but rounding.
//
// Paper: Sec. 6. Differs from the paper: as printed the step leaves the means unchanged.
//
// Shapes:  x, z (N); P, G, Q, F, J (N x N), P_pred = F P_filt F' + Q.
//          x_out, P_out: z[k-1], G[k-1]; must not overlap the inputs. F null stands for F = 0.
//          P_pred may be singular (a noiseless state): only its range is used.
// Scratch: rts_scratch_lines(N). Cost: about 6 N^3 multiply-adds.
// Failure: a lane whose P_pred is indefinite or NaN gets its bit set and NaN outputs.
template <typename T>
[[nodiscard]] LaneBits rts_step(int N, const T* F, const T* Q, const T* x_filt, const T* P_filt,
                                const T* x_pred, const T* P_pred, const T* x_smooth,
                                const T* P_smooth, T* x_out, T* P_out, T* scratch) {
  if (F == nullptr) {
    ln::copy_lines(N, x_filt, x_out);
    ln::copy_lines(N * N, P_filt, P_out);
    return 0;
  }
  lanes::LineTaker<T> taker(scratch);
  RtsLines<T> w;
  w.lay_out(taker, N);
  const LaneBits failed = rts_gain(N, F, P_filt, P_pred, w.J, w.C, w.inv);
  rts_mean<T>(N, w.J, x_filt, x_pred, x_smooth, x_out, w.inv);
  ln::copy_lines(N * N, P_smooth, w.Y);
  ln::add_scaled(N * N, T(1), Q, w.Y);
  rts_covariance<T>(N, F, w.J, P_filt, w.Y, P_out, w.covariance);
  return failed;
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
