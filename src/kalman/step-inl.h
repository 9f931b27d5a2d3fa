// The kernels of one step of the recursion, for one line of lanes: predict, update, their adjoints
// and the smoother's backward step. They are inlined where the sizes are known when a head is
// compiled; for sizes that only the model tells there are calls, compiled once for all (step.cpp).

#if defined(KALMIA_KALMAN_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_STEP_INL_H_
#undef KALMIA_KALMAN_STEP_INL_H_
#else
#define KALMIA_KALMAN_STEP_INL_H_
#endif

#include "kalman/predict-inl.h"
#include "kalman/rts-inl.h"
#include "kalman/update_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

/// As predict_forward and predict_backward.
void predict_call(int N, const double* F, const double* e, const double* Q, const double* x_filt,
                  const double* P_filt, double* x_pred, double* P_pred, double* scratch);
void predict_backward_call(int N, const double* F, const double* x_filt, const double* P_filt,
                           const double* d_x_pred, const double* d_P_pred, double* d_F,
                           double* d_x_filt, double* d_P_filt, double* scratch);

/// As update_forward and update_backward.
[[nodiscard]] LaneBits update_call(const EmissionView& h, const double* y, const double* observed,
                                   const double* x_pred, const double* P_pred, double* x_filt,
                                   double* P_filt, double* nll, const UpdateTape<double>& tape,
                                   double* scratch);
[[nodiscard]] LaneBits update_call(const LaneEmission<double>& h, const double* y,
                                   const double* observed, const double* x_pred,
                                   const double* P_pred, double* x_filt, double* P_filt,
                                   double* nll, const UpdateTape<double>& tape, double* scratch);
void update_backward_call(const EmissionView& h, const double* observed,
                          const UpdateTape<double>& tape, const double* d_nll,
                          const double* d_x_filt, const double* d_P_filt, double* d_x_pred,
                          double* d_P_pred, double* d_R, double* scratch);
void update_backward_call(const LaneEmission<double>& h, const double* observed,
                          const double* P_filt, const UpdateTape<double>& tape, const double* d_nll,
                          const double* d_x_filt, const double* d_P_filt, double* d_x_pred,
                          double* d_P_pred, double* d_y, double* d_H, double* d_R, double* scratch);

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
