#define KALMIA_SIZES_UNKNOWN

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/general_update.cpp"
#include <hwy/foreach_target.h>

#include "kalman/general_update-inl.h"
#include "kalman/robust-inl.h"
#include "kalman/step-inl.h"
#include "kalman/student_density-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

LaneBits GeneralUpdate::forward(const MapPoint& at, const double* linearise, const double* y,
                                const double* observed, const double* given, const double* P_pred,
                                double* x_filt, double* P_filt, double* nll,
                                const UpdateTape<double>& tape) {
  const LaneBits broken = prepare(at, linearise, y, observed, given, P_pred);
  const LaneBits failed =
      update_call(lane_emission(), y, observed, at.x, P_pred, x_filt, P_filt, nll, tape, scratch_);
  if (emission_.robust != nullptr) {
    lanes::LineTaker<double> taker(scratch_);
    const InnovationLines w = innovation(taker, y, observed, at.x, P_pred);
    StudentDensity density(M_, emission_.robust->nodes, w.density);
    density.forward(w.r, w.B, w.R, observed, nll);
  }
  return broken | failed;
}

void GeneralUpdate::backward(const MapPoint& at, const double* y, const double* observed,
                             const double* given, const double* P_pred, const double* P_filt,
                             const UpdateTape<double>& tape, const double* d_nll,
                             const double* d_x_filt, const double* d_P_filt, double* d_x_pred,
                             double* d_P_pred, double* d_R, double* d_theta) {
  static_cast<void>(prepare(at, nullptr, y, observed, given, P_pred));
  ln::set_zero(M_ * M_, d_R_eff_);
  const bool student = emission_.robust != nullptr;
  if (student) ln::store(ln::zero<double>(), no_loss_);
  update_backward_call(lane_emission(), observed, P_filt, tape, student ? no_loss_ : d_nll,
                       d_x_filt, d_P_filt, d_x_pred, d_P_pred, d_y_, d_H_, d_R_eff_, scratch_);
  scale_noise<Put::Add, double>(M_, weights_, d_R_eff_, d_R);
  if (student) add_density_backward(at, y, observed, given, P_pred, d_nll, d_P_pred, d_R);
  if (emission_.map == nullptr) {
    predicted_backward<double>(lane_emission(), at.x, d_y_, d_x_pred, d_H_);
    return;
  }
  ln::scale_lines(M_, -1.0, d_y_);
  emission_.map->backward(at, d_y_, d_H_, d_x_pred, d_theta, map_scratch_);
}

InnovationLines GeneralUpdate::innovation(lanes::LineTaker<double>& taker, const double* y,
                                          const double* observed, const double* x_pred,
                                          const double* P_pred) const {
  InnovationLines w;
  w.lay_out(taker, N_, M_);
  masked_innovation<double>(given_emission(), y, observed, x_pred, P_pred, w.r, w.B, w.R, w.G);
  return w;
}

void GeneralUpdate::add_density_backward(const MapPoint& at, const double* y,
                                         const double* observed, const double* given,
                                         const double* P_pred, const double* d_nll,
                                         double* d_P_pred, double* d_R) {
  lanes::LineTaker<double> taker(scratch_);
  const InnovationLines w = innovation(taker, y, observed, at.x, P_pred);
  StudentDensity density(M_, emission_.robust->nodes, w.density);
  density.forward(w.r, w.B, w.R, observed, no_loss_);
  density.backward(w.r, w.B, w.R, observed, d_nll, w.d_r, w.d_B, w.d_R);
  ln::add_scaled<double>(M_, 1.0, w.d_r, d_y_);
  ln::multiply<Put::Set, double>(M_, M_, N_, w.d_B, H_, w.d_BH);
  ln::multiply_tn_symmetric<Put::Add, double>(N_, M_, H_, w.d_BH, d_P_pred);
  ln::scale_lines(M_ * N_, 2.0, w.d_BH);
  ln::multiply<Put::Add, double>(M_, N_, N_, w.d_BH, P_pred, d_H_);
  if (given == nullptr)
    ln::add_scaled<double>(M_ * M_, 1.0, w.d_R, d_R);
  else
    scale_noise<Put::Add, double>(M_, given, w.d_R, d_R);
}

LaneBits GeneralUpdate::prepare(const MapPoint& at, const double* linearise, const double* y,
                                const double* observed, const double* given, const double* P_pred) {
  if (emission_.map != nullptr)
    predict_measurement(at, linearise);
  else
    for (int i = 0; i < M_ * N_; ++i)
      ln::store(ln::broadcast(emission_.linear->H()[static_cast<std::size_t>(i)]), entry(H_, i));
  set_shared_noise<double>(M_, emission_.linear->R().data(), R_);
  for (int i = 0; i < M_; ++i)
    ln::store(given == nullptr ? ln::broadcast(1.0) : ln::load(entry(given, i)),
              entry(weights_, i));
  LaneBits broken = 0;
  if (emission_.robust != nullptr) {
    scale_noise<Put::Set, double>(M_, weights_, R_, R_given_);
    broken = robust_weights<double>(given_emission(), *emission_.robust, y, observed, at.x, P_pred,
                                    robust_, scratch_);
    for (int i = 0; i < M_; ++i)
      ln::store(ln::load(entry(weights_, i)) * ln::load(entry(robust_, i)), entry(weights_, i));
  }
  scale_noise<Put::Set, double>(M_, weights_, R_, R_eff_);
  return broken;
}

void GeneralUpdate::predict_measurement(const MapPoint& at, const double* linearise) {
  MapPoint where = at;
  if (linearise != nullptr) where.x = linearise;
  emission_.map->forward(where, y_pred_, H_, map_scratch_);
  if (linearise == nullptr) return;
  for (int m = 0; m < M_; ++m) {
    ln::Line<double> sum = ln::load(entry(y_pred_, m));
    for (int n = 0; n < N_; ++n)
      sum = ln::fma(ln::load(entry(H_, m * N_ + n)),
                    ln::load(entry(at.x, n)) - ln::load(entry(linearise, n)), sum);
    ln::store(sum, entry(y_pred_, m));
  }
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
