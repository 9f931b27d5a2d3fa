// The alternative evaluation of a recursive model's posterior, for one line of lanes, in double.
//
// The default (paper, App. A) updates the prediction N(x_pred, P_pred), P_pred = F P F' + Q, with
// y[k]. The alternative (its last appendix) does so with x[k-1] held fixed, and integrates after:
//
//   S = H Q H' + R       K = Q H' S^-1       A = I - K H
//   x[k] = x_pred + K (y - H x_pred)         P[k] = A F P F' A' + A Q
//
// The likelihood of y[k] is the default's.

#if defined(KALMIA_HEADS_ALTERNATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_ALTERNATIVE_INL_H_
#undef KALMIA_HEADS_ALTERNATIVE_INL_H_
#else
#define KALMIA_HEADS_ALTERNATIVE_INL_H_
#endif

#include "heads/recursion/recursion.hpp"
#include "kalman/step-inl.h"
#include "lanes/scratch.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

namespace step = kalman::HWY_NAMESPACE;
namespace ln = kalmia::lanes::HWY_NAMESPACE;

/// One step of it. Holds no data of its own: `lines` are AlternativeLines.
class AlternativePosterior : private AlternativeLines {
 public:
  /// F, Q and x_pred are those of the step; P is the covariance before it.
  AlternativePosterior(const kalman::Emission& emission, const double* F, const double* Q,
                       const double* P, const double* x_pred, double* lines)
      : N_(emission.state_dim()),
        M_(emission.meas_dim()),
        F_(F),
        Q_(Q),
        P_(P),
        x_pred_(x_pred),
        taker_(lines) {
    lay_out(taker_, N_, M_);
    for (int i = 0; i < M_ * N_; ++i)
      ln::store(ln::broadcast(emission.H()[static_cast<std::size_t>(i)]), ln::entry(H_, i));
    step::set_shared_noise<double>(M_, emission.R().data(), R_);
  }

  /// Sets x and P after the step.
  HWY_NOINLINE lanes::LaneBits forward(const double* y, const double* observed, double* x,
                                       double* P) {
    const lanes::LaneBits failed = step::update_call(lane_emission(), y, observed, x_pred_, Q_, x,
                                                     P_a_, no_loss_, tape_, scratch_);
    ln::multiply<lanes::Put::Set, double>(M_, N_, N_, H_, F_, HF_);
    ln::copy_lines(N_ * N_, F_, AF_);
    ln::multiply<lanes::Put::Sub, double>(N_, M_, N_, tape_.K, HF_, AF_);
    ln::copy_lines(N_ * N_, P_a_, P);
    ln::multiply<lanes::Put::Set, double>(N_, N_, N_, AF_, P_, T_);
    ln::multiply_nt_symmetric<lanes::Put::Add, double>(N_, N_, T_, AF_, P);
    return failed;
  }

  /// Adjoint of `forward`, which it runs again (x and P are scratch for that):
  ///
  ///   d_AF = 2 d_P AF P        d_F = A' d_AF        d_K = -d_AF (H F)'
  ///   X = d_K S^-1             d_S = -(K' X + X' K) / 2
  ///   d_Q = (X H + H' X') / 2 + H' d_S H + what the update passes on
  ///
  /// Adds to d_x_pred, d_F, d_Q, d_P_before and d_R.
  HWY_NOINLINE void backward(const double* y, const double* observed, const double* d_x,
                             const double* d_P, double* x, double* P, double* d_x_pred, double* d_F,
                             double* d_Q, double* d_P_before, double* d_R) {
    static_cast<void>(forward(y, observed, x, P));
    ln::multiply<lanes::Put::Set, double>(N_, N_, N_, d_P, T_, d_AF_);  // T = AF P
    ln::scale_lines(N_ * N_, 2.0, d_AF_);
    ln::multiply<lanes::Put::Set, double>(N_, N_, N_, d_P, AF_, T_);
    ln::multiply_tn_symmetric<lanes::Put::Add, double>(N_, N_, AF_, T_, d_P_before);

    ln::add_scaled(N_ * N_, 1.0, static_cast<const double*>(d_AF_), d_F);
    ln::multiply_tn<lanes::Put::Set, double>(M_, N_, N_, tape_.K, d_AF_, HF_copy());
    ln::multiply_tn<lanes::Put::Sub, double>(N_, M_, N_, H_, HF_copy(), d_F);
    ln::multiply_nt<lanes::Put::Set, double>(N_, N_, M_, d_AF_, HF_, d_K_);
    ln::scale_lines(N_ * M_, -1.0, d_K_);
    if (observed != nullptr)  // the gain of a missing component is 0, whatever Q
      for (int m = 0; m < M_; ++m)
        for (int n = 0; n < N_; ++n) {
          double* d = ln::entry(d_K_, n * M_ + m);
          ln::store(ln::select(step::is_observed(observed, m), ln::load(d), ln::zero<double>()), d);
        }

    ln::reciprocal_diagonal(M_, static_cast<const double*>(tape_.C), inv_);
    ln::cholesky_inverse(M_, static_cast<const double*>(tape_.C), static_cast<const double*>(inv_),
                         W_, scratch_);
    ln::multiply<lanes::Put::Set, double>(N_, M_, M_, d_K_, W_, X_);
    ln::multiply_tn<lanes::Put::Set, double>(M_, N_, M_, tape_.K, X_, W_);
    for (int i = 0; i < M_; ++i)
      for (int j = 0; j < M_; ++j)
        ln::store(ln::broadcast(-0.5) *
                      (ln::load(ln::entry(W_, i * M_ + j)) + ln::load(ln::entry(W_, j * M_ + i))),
                  ln::entry(d_S_, i * M_ + j));

    ln::set_zero(2, no_loss_);
    ln::set_zero(M_ * M_, W_);
    step::update_backward_call(lane_emission(), observed, P_a_, tape_, no_loss_, d_x, d_P,
                               d_x_pred_, d_Q_, d_y_, d_H_, W_, scratch_);
    step::predicted_backward<double>(lane_emission(), x_pred_, d_y_, d_x_pred_, d_H_);
    ln::add_scaled(N_, 1.0, static_cast<const double*>(d_x_pred_), d_x_pred);
    ln::add_scaled(M_ * M_, 1.0, static_cast<const double*>(W_), d_R);
    ln::add_scaled(M_ * M_, 1.0, static_cast<const double*>(d_S_), d_R);

    // d_Q += sym(X H) + H' d_S H = sym((X + H' d_S) H).
    ln::multiply_tn<lanes::Put::Add, double>(N_, M_, M_, H_, d_S_, X_);
    ln::multiply<lanes::Put::Set, double>(N_, M_, N_, X_, H_, T_);
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j < N_; ++j) {
        double* d = ln::entry(d_Q_, i * N_ + j);
        ln::store(ln::fma(ln::broadcast(0.5),
                          ln::load(ln::entry(T_, i * N_ + j)) + ln::load(ln::entry(T_, j * N_ + i)),
                          ln::load(d)),
                  d);
      }
    ln::add_scaled(N_ * N_, 1.0, static_cast<const double*>(d_Q_), d_Q);
  }

 private:
  step::LaneEmission<double> lane_emission() const { return {N_, M_, H_, R_, nullptr}; }
  // K' d_AF (M x N), in room that is free by then.
  double* HF_copy() const { return d_H_; }

  int N_, M_;
  const double *F_, *Q_, *P_, *x_pred_;
  lanes::LineTaker<double> taker_;
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
