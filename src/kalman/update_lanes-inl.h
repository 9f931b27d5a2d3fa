// The measurement update for an emission that differs between lanes, and its adjoint, which reaches
// the emission itself.
//
// It serves a nonlinear emission (H its Jacobian), noise that changes from step to step, noise
// scaled by robust weights, and a virtual measurement w = U' x + N(0, I) decoded from a network
// (H = U', R = I, y = w, and d_nll = 0 since its loss does not count; U = 0 is no information).

#if defined(KALMIA_KALMAN_UPDATE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_UPDATE_LANES_INL_H_
#undef KALMIA_KALMAN_UPDATE_LANES_INL_H_
#else
#define KALMIA_KALMAN_UPDATE_LANES_INL_H_
#endif

#include "kalman/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

/// y = y_pred + H (x - x_pred) + r, r ~ N(0, R), each lane its own. All entries must be finite,
/// those of missing components included.
template <typename T>
struct LaneEmission {
  int state_dim;    ///< N
  int meas_dim;     ///< M
  const T* H;       ///< M x N line matrix
  const T* R;       ///< M x M line matrix, symmetric, both triangles
  const T* y_pred;  ///< M lines, what a nonlinear emission predicts; null: H x_pred
};

/// R (M x M lines) = the numbers `shared` (row-major), the same in every lane.
template <typename T>
HWY_INLINE void set_shared_noise(int M, const double* shared, T* R) {
  for (int i = 0; i < M * M; ++i) ln::store(ln::broadcast(static_cast<T>(shared[i])), entry(R, i));
}
/// R (M x M lines) = I.
template <typename T>
HWY_INLINE void set_unit_noise(int M, T* R) {
  ln::set_zero(M * M, R);
  for (int i = 0; i < M; ++i) ln::store(ln::broadcast(T(1)), entry(R, i * M + i));
}

// What the forward functions of update-inl.h ask of an emission.
template <typename T>
HWY_INLINE ln::Line<T> emission_row(const LaneEmission<T>& h, int m, const T* x, int step) {
  ln::Line<T> sum = ln::zero<T>();
  for (int n = 0; n < h.state_dim; ++n)
    sum = ln::fma(ln::load(entry(h.H, m * h.state_dim + n)), ln::load(entry(x, n * step)), sum);
  return sum;
}
template <typename T>
HWY_INLINE void times_emission_t(const LaneEmission<T>& h, const T* A, T* B) {
  ln::multiply_nt(h.state_dim, h.state_dim, h.meas_dim, A, h.H, B);
}
template <typename T>
HWY_INLINE ln::Line<T> predicted_measurement(const LaneEmission<T>& h, int m, const T* x_pred) {
  return h.y_pred != nullptr ? ln::load(entry(h.y_pred, m)) : emission_row(h, m, x_pred, 1);
}
template <typename T>
HWY_INLINE ln::Line<T> noise_entry(const LaneEmission<T>& h, int index) {
  return ln::load(entry(h.R, index));
}
template <typename T>
HWY_INLINE bool noise_is_diagonal(const LaneEmission<T>& h) {
  return h.meas_dim == 1;
}

// r = S v = C C' v: the innovation, with 0 where it is missing.
template <typename T>
HWY_INLINE void innovation_of(int M, const UpdateTape<T>& tape, T* r) {
  for (int i = 0; i < M; ++i) {  // C' v
    ln::Line<T> sum = ln::zero<T>();
    for (int k = i; k < M; ++k)
      sum = ln::fma(ln::load(entry(tape.C, lanes::triangle_index(k, i))),
                    ln::load(entry(tape.v, k)), sum);
    ln::store(sum, entry(r, i));
  }
  for (int i = M - 1; i >= 0; --i) {  // C (C' v)
    ln::Line<T> sum = ln::zero<T>();
    for (int k = 0; k <= i; ++k)
      sum =
          ln::fma(ln::load(entry(tape.C, lanes::triangle_index(i, k))), ln::load(entry(r, k)), sum);
    ln::store(sum, entry(r, i));
  }
}

// Adjoint of `update_forward` for a LaneEmission, with y_pred taken as an input of its own. With
// d_r, d_S, U, V of `innovation_backward`, G = P_pred H' and d_G = d_x_filt v':
//
//   d_x_pred = d_x_filt        d_y = -d_y_pred = d_r        d_R += V
//   d_P_pred = d_P_filt + Y H + H' Y',   Y = U + H' V / 2        (as for the shared emission)
//   d_H = d_G' P_pred + 2 d_S G' - 2 K' d_P_filt (I - K H) P_pred
//       = 2 U' P_filt + 2 d_nll K' - d_r (K r)'
//
// The three terms of d_H come through G = P_pred H', S = H G + R and P_filt at constant K. The last
// line follows by (I - K H) P_pred = P_filt and S^-1 G' = K'; it needs no P_pred, so that nothing
// large cancels where the prior is vague.
//
// Sets d_x_pred (which may be d_x_filt), d_P_pred (which must not be d_P_filt), d_y and d_H; adds
// to d_R unless it is null. Where y_pred is H x_pred, `predicted_backward` adds the path through
// it. Rows of missing components are zero.
//
// Shapes:  P_filt (N x N) is update_forward's result, d_y (M), d_H (M x N), d_R (M x M).
// Scratch: update_scratch_lines(N, M). Cost: about 2.5 N^2 M + 1.5 N M^2 + M^3 / 3.
template <typename T>
HWY_INLINE void update_backward(const LaneEmission<T>& h, const T* observed, const T* P_filt,
                                const UpdateTape<T>& tape, const T* d_nll, const T* d_x_filt,
                                const T* d_P_filt, T* d_x_pred, T* d_P_pred, T* d_y, T* d_H, T* d_R,
                                T* scratch) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  lanes::LineTaker<T> taker(scratch);
  UpdateBackwardLines<T> w;
  w.lay_out(taker, N, M);
  T *U = w.U, *V = w.V, *r = w.r, *Kr = w.Kr;
  innovation_backward<T>(N, M, observed, tape, d_nll, d_x_filt, d_P_filt, d_y, V, U, w.innovation);
  if (d_R != nullptr) ln::add_scaled(M * M, T(1), V, d_R);

  if (d_x_pred != d_x_filt) ln::copy_lines(N, d_x_filt, d_x_pred);

  innovation_of(M, tape, r);
  ln::multiply_vec<Put::Set, T>(N, M, tape.K, r, Kr);
  ln::multiply_tn<Put::Set, T>(M, N, N, U, P_filt, d_H);
  const ln::Line<T> two = ln::broadcast(T(2));
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      T* d = entry(d_H, m * N + n);
      const ln::Line<T> sum =
          ln::fma(ln::load(d_nll), ln::load(entry(tape.K, n * M + m)), ln::load(d));
      ln::store(two * sum - ln::load(entry(d_y, m)) * ln::load(entry(Kr, n)), d);
    }

  // U becomes Y.
  ln::scale_lines(M * M, T(0.5), V);
  ln::multiply_tn<Put::Add, T>(N, M, M, h.H, V, U);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      ln::Line<T> sum = ln::load(entry(d_P_filt, i * N + j));
      for (int m = 0; m < M; ++m) {
        const T* H_m = entry(h.H, m * N);
        sum = ln::fma(ln::load(entry(U, i * M + m)), ln::load(entry(H_m, j)), sum);
        sum = ln::fma(ln::load(entry(U, j * M + m)), ln::load(entry(H_m, i)), sum);
      }
      ln::store(sum, entry(d_P_pred, i * N + j));
      ln::store(sum, entry(d_P_pred, j * N + i));
    }
}

// Adjoint of y_pred = H x_pred: adds H' d_y_pred to d_x_pred and d_y_pred x_pred' to d_H, with
// d_y_pred = -d_y.
template <typename T>
HWY_INLINE void predicted_backward(const LaneEmission<T>& h, const T* x_pred, const T* d_y,
                                   T* d_x_pred, T* d_H) {
  ln::multiply_vec_t<Put::Sub>(h.meas_dim, h.state_dim, h.H, d_y, d_x_pred);
  ln::outer<Put::Sub>(h.meas_dim, h.state_dim, d_y, x_pred, d_H);
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
