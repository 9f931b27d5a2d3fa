#define KALMIA_SIZES_UNKNOWN

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/step.cpp"
#include <hwy/foreach_target.h>

#include "kalman/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

void predict_call(int N, const double* F, const double* e, const double* Q, const double* x_filt,
                  const double* P_filt, double* x_pred, double* P_pred, double* scratch) {
  predict_forward<double>(N, F, e, Q, x_filt, P_filt, x_pred, P_pred, scratch);
}

void predict_backward_call(int N, const double* F, const double* x_filt, const double* P_filt,
                           const double* d_x_pred, const double* d_P_pred, double* d_F,
                           double* d_x_filt, double* d_P_filt, double* scratch) {
  predict_backward<double>(N, F, x_filt, P_filt, d_x_pred, d_P_pred, d_F, d_x_filt, d_P_filt,
                           scratch);
}

LaneBits update_call(const EmissionView& h, const double* y, const double* observed,
                     const double* x_pred, const double* P_pred, double* x_filt, double* P_filt,
                     double* nll, const UpdateTape<double>& tape, double* scratch) {
  return update_forward<double>(h, y, observed, x_pred, P_pred, x_filt, P_filt, nll, tape, scratch);
}

LaneBits update_call(const LaneEmission<double>& h, const double* y, const double* observed,
                     const double* x_pred, const double* P_pred, double* x_filt, double* P_filt,
                     double* nll, const UpdateTape<double>& tape, double* scratch) {
  return update_forward<double>(h, y, observed, x_pred, P_pred, x_filt, P_filt, nll, tape, scratch);
}

void update_backward_call(const EmissionView& h, const double* observed,
                          const UpdateTape<double>& tape, const double* d_nll,
                          const double* d_x_filt, const double* d_P_filt, double* d_x_pred,
                          double* d_P_pred, double* d_R, double* scratch) {
  update_backward<double>(h, observed, tape, d_nll, d_x_filt, d_P_filt, d_x_pred, d_P_pred, d_R,
                          scratch);
}

void update_backward_call(const LaneEmission<double>& h, const double* observed,
                          const double* P_filt, const UpdateTape<double>& tape, const double* d_nll,
                          const double* d_x_filt, const double* d_P_filt, double* d_x_pred,
                          double* d_P_pred, double* d_y, double* d_H, double* d_R,
                          double* scratch) {
  update_backward<double>(h, observed, P_filt, tape, d_nll, d_x_filt, d_P_filt, d_x_pred, d_P_pred,
                          d_y, d_H, d_R, scratch);
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
