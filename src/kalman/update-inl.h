// The measurement update of the recursion and its adjoint, for one line of lanes.
//
// Means are N lines, covariances N x N line matrices, symmetric with both triangles stored. The
// adjoint of a covariance is the full symmetric matrix, both triangles.
//
// The forward functions are written on an emission h, which has state_dim, meas_dim and the five
// functions that follow here for the shared EmissionView; update_lanes-inl.h has them for an
// emission that differs between lanes.

#if defined(KALMIA_KALMAN_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_UPDATE_INL_H_
#undef KALMIA_KALMAN_UPDATE_INL_H_
#else
#define KALMIA_KALMAN_UPDATE_INL_H_
#endif

#include "kalman/emission.hpp"
#include "kalman/scratch.hpp"
#include "lanes/cholesky-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::LaneBits;
using lanes::Put;
using ln::entry;

// sum over n of H(m, n) x[n step].
template <typename T>
HWY_INLINE ln::Line<T> emission_row(const EmissionView& h, int m, const T* x, int step) {
  ln::Line<T> sum = ln::zero<T>();
  for (int i = h.row_begin[m]; i < h.row_begin[m + 1]; ++i)
    sum = ln::fma(ln::broadcast(static_cast<T>(h.value[i])), ln::load(entry(x, h.col[i] * step)),
                  sum);
  return sum;
}

// B (N x M) = A H' for symmetric A (N x N): column m gathers rows of A.
template <typename T>
HWY_INLINE void times_emission_t(const EmissionView& h, const T* A, T* B) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) ln::store(emission_row(h, m, entry(A, n), N), entry(B, n * M + m));
}

// What y[m] is expected to be.
template <typename T>
HWY_INLINE ln::Line<T> predicted_measurement(const EmissionView& h, int m, const T* x_pred) {
  return emission_row(h, m, x_pred, 1);
}

// R(i, j), index = i M + j.
template <typename T>
HWY_INLINE ln::Line<T> noise_entry(const EmissionView& h, int index) {
  return ln::broadcast(static_cast<T>(h.R[index]));
}

// Whether R is known to be diagonal.
HWY_INLINE bool noise_is_diagonal(const EmissionView& h) {
  for (int i = 0; i < h.meas_dim; ++i)
    for (int j = 0; j < i; ++j)
      if (h.R[i * h.meas_dim + j] != 0) return false;
  return true;
}

template <typename T>
HWY_INLINE ln::LineMask<T> is_observed(const T* observed, int m) {
  return ln::nonzero(ln::load(entry(observed, m)));
}

// The part of the update that depends on P_pred only: G = P_pred H' (N x M), C = chol(H G + R)
// (packed), inv (M, see cholesky-inl.h) and log_det (1 line), masked as update_forward describes.
template <typename T, typename E>
[[nodiscard]] HWY_INLINE LaneBits update_factor(const E& h, const T* observed, const T* P_pred,
                                                T* G, T* C, T* inv, T* log_det) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  const ln::Line<T> none = ln::zero<T>();
  times_emission_t(h, P_pred, G);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j <= i; ++j)
      ln::store(
          emission_row(h, i, static_cast<const T*>(entry(G, j)), M) + noise_entry<T>(h, i * M + j),
          entry(C, lanes::triangle_index(i, j)));
  if (observed != nullptr)
    for (int i = 0; i < M; ++i) {
      const ln::LineMask<T> seen = is_observed(observed, i);
      for (int n = 0; n < N; ++n) {
        T* g = entry(G, n * M + i);
        ln::store(ln::select(seen, ln::load(g), none), g);
      }
      for (int j = 0; j <= i; ++j) {
        T* s = entry(C, lanes::triangle_index(i, j));
        const ln::Line<T> identity = i == j ? ln::broadcast(T(1)) : none;
        const ln::Line<T> both = ln::select(is_observed(observed, j), ln::load(s), identity);
        ln::store(ln::select(seen, both, identity), s);
      }
    }
  const LaneBits failed = ln::cholesky(M, C, inv);
  ln::store(ln::log_determinant(M, C), log_det);
  return failed;
}

// The part that concerns the mean: r = y - y_pred (stored as it is, NaN included), then masked
// v = S^-1 r (M), x_filt = x_pred + G v, nll = r' v + log_det. x_filt may be x_pred.
template <typename T, typename E>
HWY_INLINE void update_mean(const E& h, const T* y, const T* observed, const T* x_pred, const T* G,
                            const T* C, const T* inv, const T* log_det, T* r, T* v, T* x_filt,
                            T* nll) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  for (int i = 0; i < M; ++i) {
    ln::Line<T> r_i = ln::load(entry(y, i)) - predicted_measurement(h, i, x_pred);
    ln::store(r_i, entry(r, i));
    if (observed != nullptr) r_i = ln::select(is_observed(observed, i), r_i, ln::zero<T>());
    ln::store(r_i, entry(v, i));
  }
  ln::solve_lower_vec(M, C, inv, v);  // C^-1 r
  ln::Line<T> loss = ln::load(log_det);
  for (int i = 0; i < M; ++i) loss = ln::fma(ln::load(entry(v, i)), ln::load(entry(v, i)), loss);
  ln::store(loss, nll);
  ln::solve_upper_vec(M, C, inv, v);  // S^-1 r
  if (x_filt != x_pred) ln::copy_lines(N, x_pred, x_filt);
  ln::multiply_vec<Put::Add>(N, M, G, static_cast<const T*>(v), x_filt);
}

// K = G S^-1.
template <typename T>
HWY_INLINE void update_gain(int N, int M, const T* G, const T* C, const T* inv, T* K) {
  ln::copy_lines(N * M, G, K);
  ln::solve_right(N, M, C, inv, K);
}

// R = U diag(noise) U', U unit lower triangular, and V = U^-1 V (M x N), so that the rows of V are
// measured with independent noise of these variances. Rows of missing components, which are 0
// already, have noise 1. U: M x M lines of scratch.
template <typename T, typename E>
HWY_INLINE void make_independent(const E& h, const T* observed, T* V, T* noise, T* U) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  const ln::Line<T> one = ln::broadcast(T(1));
  const bool diagonal = noise_is_diagonal(h);
  for (int i = 0; i < M; ++i) {
    ln::Line<T> pivot = noise_entry<T>(h, i * M + i);
    if (observed != nullptr) pivot = ln::select(is_observed(observed, i), pivot, one);
    for (int j = 0; j < i && !diagonal; ++j) {
      ln::Line<T> value = noise_entry<T>(h, i * M + j);
      if (observed != nullptr) {
        value = ln::select(is_observed(observed, i), value, ln::zero<T>());
        value = ln::select(is_observed(observed, j), value, ln::zero<T>());
      }
      for (int k = 0; k < j; ++k)  // above the diagonal U holds U(i, k) noise[k]
        value = ln::fnma(ln::load(entry(U, k * M + i)), ln::load(entry(U, j * M + k)), value);
      const ln::Line<T> u = value / ln::load(entry(noise, j));
      ln::store(value, entry(U, j * M + i));
      ln::store(u, entry(U, i * M + j));
      pivot = ln::fnma(u, value, pivot);
      for (int n = 0; n < N; ++n)
        ln::store(ln::fnma(u, ln::load(entry(V, j * N + n)), ln::load(entry(V, i * N + n))),
                  entry(V, i * N + n));
    }
    ln::store(pivot, entry(noise, i));
  }
}

// A square root of P_filt (N x N, no triangle), from one of P_pred: with P_pred = S S' and one
// measured component after the other, f = S' h the row of V = H S, r its noise, the part of each
// row of S along f shrinks:
//
//   S = (S - c f') + sqrt(r / (f' f + r)) c f',   c = S f / (f' f)
//
// (Potter's form; V follows S.) No covariance is subtracted from another, so that S S' is positive
// semi-definite, each entry to within rounding of sqrt(P_ii P_jj), however sharp the measurement. A
// state that is measured itself has the row f: its variance is as accurate as r.
//
// Returns f' f, summed over the components: 0 where nothing was measured.
//
// Scratch: UpdateRootLines. Cost: N^3 / 6 + M (3.5 N^2 + 1.5 M N) multiply-adds, N + M
// roots and N + 3 M divisions.
template <typename T, typename E>
HWY_INLINE ln::Line<T> update_root(const E& h, const T* observed, const T* P_pred, T* S,
                                   T* scratch) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  lanes::LineTaker<T> taker(scratch);
  UpdateRootLines<T> w;
  w.lay_out(taker, N, M);
  T* V = w.V;
  ln::covariance_root(N, P_pred, S, w.C, w.inv);
  for (int m = 0; m < M; ++m)
    for (int j = 0; j < N; ++j) {
      ln::Line<T> v = emission_row(h, m, static_cast<const T*>(entry(S, j)), N);
      if (observed != nullptr) v = ln::select(is_observed(observed, m), v, ln::zero<T>());
      ln::store(v, entry(V, m * N + j));
    }
  make_independent<T>(h, observed, V, w.noise, w.U);
  ln::Line<T> learned = ln::zero<T>();
  for (int m = 0; m < M; ++m) {
    const T* f = entry(V, m * N);
    const ln::Line<T> r = ln::load(entry(w.noise, m));
    const auto along = [&](const T* row) HWY_ATTR {
      ln::Line<T> sum = ln::zero<T>();
      for (int j = 0; j < N; ++j)
        sum = ln::fma(ln::load(entry(row, j)), ln::load(entry(f, j)), sum);
      return sum;
    };
    const ln::Line<T> square = along(f);
    learned = learned + square;
    const ln::Line<T> shrink = ln::sqrt(r / (square + r));
    const ln::LineMask<T> seen = ln::greater(square, ln::zero<T>());
    const ln::Line<T> reciprocal = ln::broadcast(T(1)) / square;
    const auto take_out = [&](T* row) HWY_ATTR {
      // Over the square, to the last digit: 1 of f itself.
      const ln::Line<T> product = along(row);
      const ln::Line<T> quotient = product * reciprocal;
      const ln::Line<T> c = ln::select(
          seen, ln::fma(ln::fnma(quotient, square, product), reciprocal, quotient), ln::zero<T>());
      for (int j = 0; j < N; ++j) {
        const ln::Line<T> part = ln::load(entry(f, j));
        ln::store(ln::fma(shrink * c, part, ln::fnma(c, part, ln::load(entry(row, j)))),
                  entry(row, j));
      }
    };
    for (int n = 0; n < N; ++n) take_out(entry(S, n * N));
    for (int i = m + 1; i < M; ++i) take_out(entry(V, i * N));
  }
  return learned;
}

// P_filt of the update, S S' of `update_root`; where nothing was measured, P_pred as it is. NaN in
// the lanes that failed. Scratch: update_covariance_lines(N, M).
template <typename T, typename E>
HWY_INLINE void update_covariance(const E& h, const T* observed, const T* P_pred, LaneBits failed,
                                  T* P_filt, T* scratch) {
  const int N = h.state_dim;
  lanes::LineTaker<T> taker(scratch);
  UpdateCovarianceLines<T> w;
  w.lay_out(taker, N, h.meas_dim);
  const ln::Line<T> learned = update_root<T>(h, observed, P_pred, w.S, w.root);
  ln::multiply_nt_symmetric<Put::Set, T>(N, N, w.S, w.S, P_filt);
  const ln::Line<T> least = ln::broadcast(std::numeric_limits<T>::denorm_min());
  const ln::LineMask<T> nothing = ln::greater(least, learned);  // false for NaN
  for (int i = 0; i < N * N; ++i)
    ln::store(ln::select(nothing, ln::load(entry(P_pred, i)), ln::load(entry(P_filt, i))),
              entry(P_filt, i));
  for (int b = 0; b < lanes::kLineLanes<T> && failed != 0; ++b)
    for (int i = 0; i < N * N && ((failed >> b) & 1) != 0; ++i)
      entry(P_filt, i)[b] = std::numeric_limits<T>::quiet_NaN();
}

// One measurement update and the loss of its innovation:
//
//   r = y - y_pred       G = P_pred H'       S = H G + R        C = chol(S)
//   v = S^-1 r           x_filt = x_pred + G v                  K = G S^-1
//   nll = r' v + log det S                   P_filt = (I - K H) P_pred
//
// with y_pred = H x_pred for a linear emission. P_filt is computed from its square root
// (`update_root`); its triangles hold the same bits.
//
// Differs from the paper: P - K H P loses all digits where a measurement is much sharper than the
// prediction, and Joseph's form its definiteness; after a jump in time both did.
//
// Paper: Alg. 1 and Sec. 5; the factor 1/2 and the constant M log(2 pi) are dropped, as there.
//
// Shapes:  y, r, v (M), x (N), P (N x N), G, K (N x M), S (M x M), nll (1 line, set). `observed`
//          is null (all are) or M lines of flags 1 / 0. Where a component is missing, its row and
//          column of S are the identity's, r = 0 and its column of G is 0, so that nll counts the
//          observed components only and K has a zero column; y may hold anything there, NaN
//          included.
// Scratch: update_scratch_lines(N, M). x_filt may be x_pred; P_filt must not be P_pred.
// Cost:    about 2/3 N^3 + 4 N^2 M + 2 N M^2 + M^3 / 6 multiply-adds, N + 4 M divisions, N + 2 M
// roots,
//          M / 2 logarithms.
// Failure: a lane whose S is not positive definite gets its bit set, and NaN in all its outputs.
template <typename T, typename E>
[[nodiscard]] HWY_INLINE LaneBits update_forward(const E& h, const T* y, const T* observed,
                                                 const T* x_pred, const T* P_pred, T* x_filt,
                                                 T* P_filt, T* nll, const UpdateTape<T>& tape,
                                                 T* scratch) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  LaneBits failed;
  {
    lanes::LineTaker<T> taker(scratch);
    UpdateLines<T> w;
    w.lay_out(taker, N, M);
    failed = update_factor<T>(h, observed, P_pred, w.G, tape.C, w.inv, w.log_det);
    update_mean<T>(h, y, observed, x_pred, w.G, tape.C, w.inv, w.log_det, w.r, tape.v, x_filt, nll);
    update_gain<T>(N, M, w.G, tape.C, w.inv, tape.K);
  }
  update_covariance<T>(h, observed, P_pred, failed, P_filt, scratch);
  return failed;
}

// The part of the adjoint that does not see H:
//
//   w = K' d_x_filt              d_r = w + 2 v d_nll
//   d_S = -(w v' + v w') / 2 + (S^-1 - v v') d_nll              (observed components; else 0)
//   V = K' d_P_filt K + d_S      U = -d_P_filt K + d_x_filt v' / 2
//
// Sets d_r (M), V (M x M) and U (N x M). Scratch: InnovationBackwardLines.
template <typename T>
HWY_INLINE void innovation_backward(int N, int M, const T* observed, const UpdateTape<T>& tape,
                                    const T* d_nll, const T* d_x_filt, const T* d_P_filt, T* d_r,
                                    T* V, T* U, T* scratch) {
  lanes::LineTaker<T> taker(scratch);
  InnovationBackwardLines<T> lines;
  lines.lay_out(taker, M);
  const ln::Line<T> half = ln::broadcast(T(0.5));
  const ln::Line<T> d_loss = ln::load(d_nll);

  T* w = d_r;
  ln::multiply_vec_t(N, M, tape.K, d_x_filt, w);
  ln::reciprocal_diagonal(M, tape.C, lines.inv);
  ln::cholesky_inverse(M, tape.C, lines.inv, lines.W, lines.X);  // W = S^-1
  ln::multiply(N, N, M, d_P_filt, tape.K, U);
  ln::multiply_tn_symmetric(M, N, tape.K, U, V);
  for (int i = 0; i < M; ++i) {
    const ln::Line<T> v_i = ln::load(entry(tape.v, i));
    const ln::Line<T> w_i = ln::load(entry(w, i));
    for (int j = 0; j <= i; ++j) {
      const ln::Line<T> v_j = ln::load(entry(tape.v, j));
      const ln::Line<T> w_j = ln::load(entry(w, j));
      ln::Line<T> d_S = ln::fnma(v_i, v_j, ln::load(entry(lines.W, i * M + j))) * d_loss;
      d_S = ln::fnma(half, ln::fma(w_i, v_j, v_i * w_j), d_S);
      // A missing component has v = w = 0 and a row of the identity in S^-1.
      if (observed != nullptr && i == j)
        d_S = ln::select(is_observed(observed, i), d_S, ln::zero<T>());
      d_S = d_S + ln::load(entry(V, i * M + j));
      ln::store(d_S, entry(V, i * M + j));
      ln::store(d_S, entry(V, j * M + i));
    }
  }
  for (int i = 0; i < M; ++i)
    ln::store(ln::fma(d_loss + d_loss, ln::load(entry(tape.v, i)), ln::load(entry(w, i))),
              entry(d_r, i));
  for (int n = 0; n < N; ++n) {
    const ln::Line<T> d_x = half * ln::load(entry(d_x_filt, n));
    for (int m = 0; m < M; ++m) {
      T* u = entry(U, n * M + m);
      ln::store(ln::fma(d_x, ln::load(entry(tape.v, m)), -ln::load(u)), u);
    }
  }
}

// Adjoint of `update_forward`. K is the gain that minimises P_filt, so dP_filt / dK = 0 and P_filt
// passes its adjoint on as if K were constant; with d_r, d_S, U, V of `innovation_backward` and
// d_G = d_x_filt v':
//
//   d_x_pred = d_x_filt - H' d_r
//   d_P_pred = (I - K H)' d_P_filt (I - K H) + (d_G H + H' d_G') / 2 + H' d_S H
//            = d_P_filt + Y H + H' Y',   Y = U + H' V / 2
//   d_R += V
//
// Sets d_x_pred and d_P_pred (which must not be d_P_filt); adds to d_R (M x M) unless it is null.
// d_nll is one line. All adjoints of covariances, d_R included, are full symmetric, both triangles.
// The adjoint of y is d_r; callers that need it recompute it from the tape.
// Scratch: update_scratch_lines(N, M). Cost: about N^2 M + N M^2 + M^3 / 3.
template <typename T>
HWY_INLINE void update_backward(const EmissionView& h, const T* observed, const UpdateTape<T>& tape,
                                const T* d_nll, const T* d_x_filt, const T* d_P_filt, T* d_x_pred,
                                T* d_P_pred, T* d_R, T* scratch) {
  const int N = h.state_dim;
  const int M = h.meas_dim;
  lanes::LineTaker<T> taker(scratch);
  UpdateBackwardLines<T> w;
  w.lay_out(taker, N, M);
  T *U = w.U, *V = w.V, *d_r = w.r;
  innovation_backward<T>(N, M, observed, tape, d_nll, d_x_filt, d_P_filt, d_r, V, U, w.innovation);
  if (d_R != nullptr) ln::add_scaled(M * M, T(1), V, d_R);

  const ln::Line<T> half = ln::broadcast(T(0.5));
  ln::copy_lines(N, d_x_filt, d_x_pred);
  for (int i = 0; i < M; ++i) {
    const ln::Line<T> d_r_i = ln::load(entry(d_r, i));
    for (int k = h.row_begin[i]; k < h.row_begin[i + 1]; ++k) {
      const int n = h.col[k];
      const ln::Line<T> value = ln::broadcast(static_cast<T>(h.value[k]));
      ln::store(ln::fnma(value, d_r_i, ln::load(entry(d_x_pred, n))), entry(d_x_pred, n));
      for (int m = 0; m < M; ++m) {
        T* u = entry(U, n * M + m);
        ln::store(ln::fma(half * value, ln::load(entry(V, i * M + m)), ln::load(u)), u);
      }
    }
  }
  // d_P_pred: entry (i, j) and entry (j, i) receive the same terms in the same order.
  ln::copy_lines(N * N, d_P_filt, d_P_pred);
  for (int m = 0; m < M; ++m)
    for (int k = h.row_begin[m]; k < h.row_begin[m + 1]; ++k) {
      const int c = h.col[k];
      const ln::Line<T> value = ln::broadcast(static_cast<T>(h.value[k]));
      for (int n = 0; n < N; ++n) {
        const ln::Line<T> u = value * ln::load(entry(U, n * M + m));
        T* column = entry(d_P_pred, n * N + c);
        ln::store(ln::load(column) + u, column);
        T* row = entry(d_P_pred, c * N + n);
        ln::store(ln::load(row) + u, row);
      }
    }
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
