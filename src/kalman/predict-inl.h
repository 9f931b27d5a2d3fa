// The prediction step of the recursion and its adjoint, for one line of lanes.
//
// Means are N lines, covariances N x N line matrices, symmetric with both triangles stored. The
// adjoint of a covariance is the full symmetric matrix, both triangles.

#if defined(KALMIA_KALMAN_PREDICT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_PREDICT_INL_H_
#undef KALMIA_KALMAN_PREDICT_INL_H_
#else
#define KALMIA_KALMAN_PREDICT_INL_H_
#endif

#include "kalman/scratch.hpp"
#include "lanes/cholesky-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::LaneBits;
using lanes::Put;
using ln::entry;

// F P F' + Q of a covariance P, as (F S) (F S)' + Q with P = S S': a product with its own transpose
// is positive semi-definite, each entry to within rounding of sqrt(P_ii P_jj), whatever F does to
// P. Scratch: predict_scratch_lines(N). Cost: 1.7 N^3 multiply-adds, N roots, N divisions.
template <typename T>
HWY_INLINE void predict_covariance(int N, const T* F, const T* P_filt, const T* Q, T* P_pred,
                                   T* scratch) {
  lanes::LineTaker<T> taker(scratch);
  PredictLines<T> w;
  w.lay_out(taker, N);
  ln::covariance_root(N, P_filt, w.S, w.C, w.inv);
  ln::multiply<Put::Set, T>(N, N, N, F, w.S, w.FS);
  ln::copy_lines(N * N, Q, P_pred);
  ln::multiply_nt_symmetric<Put::Add, T>(N, N, w.FS, w.FS, P_pred);
}

// One prediction:
//
//   x_pred = F x_filt + e,   P_pred = F P_filt F' + Q
//
// Shapes:  F, P, Q (N x N), x, e (N). F null stands for F = 0: x_pred = e, P_pred = Q, and x_filt,
//          P_filt are not read.
// Scratch: predict_scratch_lines(N). Cost: as predict_covariance. P_pred's triangles hold the same
//          bits.
template <typename T>
HWY_INLINE void predict_forward(int N, const T* F, const T* e, const T* Q, const T* x_filt,
                                const T* P_filt, T* x_pred, T* P_pred, T* scratch) {
  ln::copy_lines(N, e, x_pred);
  if (F == nullptr) return ln::copy_lines(N * N, Q, P_pred);
  ln::multiply_vec<Put::Add>(N, N, F, x_filt, x_pred);
  predict_covariance<T>(N, F, P_filt, Q, P_pred, scratch);
}

// Adjoint of `predict_forward`. Sets, does not add to, its outputs:
//
//   d_F = d_x x' + 2 d_P F P     d_x_filt = F' d_x     d_P_filt = F' d_P F
//
// d_e is d_x_pred itself, d_Q is d_P_pred. Adjoints of covariances are full symmetric. F null: d_F
// is untouched (may be null), d_x_filt and d_P_filt become 0. Scratch: predict_scratch_lines(N).
// Cost: 2.5 N^3.
template <typename T>
HWY_INLINE void predict_backward(int N, const T* F, const T* x_filt, const T* P_filt,
                                 const T* d_x_pred, const T* d_P_pred, T* d_F, T* d_x_filt,
                                 T* d_P_filt, T* scratch) {
  if (F == nullptr) {
    ln::set_zero(N, d_x_filt);
    ln::set_zero(N * N, d_P_filt);
    return;
  }
  lanes::LineTaker<T> taker(scratch);
  PredictLines<T> w;
  w.lay_out(taker, N);
  ln::multiply_vec_t(N, N, F, d_x_pred, d_x_filt);
  ln::sandwich_backward(N, F, P_filt, d_P_pred, d_F, d_P_filt, w.FS);
  ln::outer<Put::Add>(N, N, d_x_pred, x_filt, d_F);
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
