// The measurement update for any emission: nonlinear, with noise weighted from step to step, or
// with Student-t noise; and its adjoint. For one line of lanes, in double.

#if defined(KALMIA_KALMAN_GENERAL_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_GENERAL_UPDATE_INL_H_
#undef KALMIA_KALMAN_GENERAL_UPDATE_INL_H_
#else
#define KALMIA_KALMAN_GENERAL_UPDATE_INL_H_
#endif

#include "kalman/general_update.hpp"
#include "kalman/update_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

/// y = h(x) + r, r ~ N(0, D^-1/2 R D^-1/2), D = diag(weights): the given ones times those of
/// Student-t noise. Those are chosen for the state (robust_weights), and count as constants in the
/// adjoint of x_filt and P_filt: what they do to later steps is left out. The loss of Student-t
/// noise does not use them; it is that of StudentDensity, the weights integrated out, and its
/// adjoint is exact.
///
/// Holds no data of its own: `lines` has general_update_lines(N, M) of them.
class GeneralUpdate : private GeneralUpdateLines {
 public:
  GeneralUpdate(const GeneralEmission& emission, double* lines, double* map_scratch)
      : emission_(emission),
        N_(emission.linear->state_dim()),
        M_(emission.linear->meas_dim()),
        map_scratch_(map_scratch),
        taker_(lines) {
    lay_out(taker_, N_, M_);
  }

  /// As `update_forward`. `at.x` is x_pred; `given` (M lines) may be null: all weights 1. The map
  /// is linearised at `linearise` (N lines, x'), or where that is null at x_pred:
  ///
  ///   y_pred = h(x') + H(x') (x_pred - x')
  LaneBits forward(const MapPoint& at, const double* linearise, const double* y,
                   const double* observed, const double* given, const double* P_pred,
                   double* x_filt, double* P_filt, double* nll, const UpdateTape<double>& tape);

  /// Adjoint of a `forward` linearised at x_pred: sets d_x_pred and d_P_pred; adds to d_R (M x M)
  /// and d_theta.
  void backward(const MapPoint& at, const double* y, const double* observed, const double* given,
                const double* P_pred, const double* P_filt, const UpdateTape<double>& tape,
                const double* d_nll, const double* d_x_filt, const double* d_P_filt,
                double* d_x_pred, double* d_P_pred, double* d_R, double* d_theta);

  /// M lines: the weights of the last forward or backward.
  const double* weights() const { return weights_; }

 private:
  LaneEmission<double> lane_emission() const {
    return {N_, M_, H_, R_eff_, emission_.map == nullptr ? nullptr : y_pred_};
  }

  // The innovation of Student-t noise, in scratch_.
  InnovationLines innovation(lanes::LineTaker<double>& taker, const double* y,
                             const double* observed, const double* x_pred,
                             const double* P_pred) const;

  // Adds the adjoint of the density of r = y - y_pred with B = H P_pred H' and R as given:
  //   d_y += d_r,  d_H += 2 d_B H P_pred,  d_P_pred += H' d_B H.
  void add_density_backward(const MapPoint& at, const double* y, const double* observed,
                            const double* given, const double* P_pred, const double* d_nll,
                            double* d_P_pred, double* d_R);

  LaneEmission<double> given_emission() const {
    return {N_, M_, H_, R_given_, emission_.map == nullptr ? nullptr : y_pred_};
  }

  // Sets H, y_pred, the weights and R_eff.
  LaneBits prepare(const MapPoint& at, const double* linearise, const double* y,
                   const double* observed, const double* given, const double* P_pred);

  // Sets H and y_pred of a nonlinear emission.
  void predict_measurement(const MapPoint& at, const double* linearise);

  GeneralEmission emission_;
  int N_, M_;
  double* map_scratch_;
  lanes::LineTaker<double> taker_;
};

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
