#define KALMIA_SIZES_UNKNOWN

#include "kalman/classical/line_step.hpp"

#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/classical/line_step.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/step-inl.h"
#include "kalman/update_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

constexpr double kSettled = 16 * std::numeric_limits<double>::epsilon();

// The candidates among whose lanes |A - B| <= kSettled times the standard deviations of B, in every
// entry. The diagonal is looked at first: while covariances change, it decides at once.
LaneBits close_lanes(int N, const double* A, const double* B, LaneBits candidates) {
  const ln::Line<double> tolerance = ln::broadcast(kSettled);
  ln::Line<double> excess = ln::zero<double>();
  for (int i = 0; i < N; ++i) {
    const ln::Line<double> b = ln::load(entry(B, i * N + i));
    const ln::Line<double> change = ln::abs(ln::load(entry(A, i * N + i)) - b);
    excess = excess + ln::zero_if_negative(ln::fnma(tolerance, b, change));
  }
  candidates &= ~ln::bits_of(ln::greater(excess, ln::zero<double>()));
  if (candidates == 0) return 0;
  for (int i = 0; i < N; ++i) {
    const ln::Line<double> sd = tolerance * ln::sqrt(ln::load(entry(B, i * N + i)));
    for (int j = 0; j < i; ++j) {
      const ln::Line<double> change =
          ln::abs(ln::load(entry(A, i * N + j)) - ln::load(entry(B, i * N + j)));
      excess = excess +
               ln::zero_if_negative(ln::fnma(sd, ln::sqrt(ln::load(entry(B, j * N + j))), change));
    }
  }
  return candidates & ~ln::bits_of(ln::greater(excess, ln::zero<double>()));
}

// A = B in the chosen lanes.
void restore_lanes(int count, const double* B, double* A, LaneBits chosen, double* flags) {
  if (chosen == 0) return;
  for (int b = 0; b < kLanes; ++b) flags[b] = static_cast<double>((chosen >> b) & 1);
  const ln::LineMask<double> mask = ln::nonzero(ln::load(flags));
  for (int i = 0; i < count; ++i)
    ln::store(ln::select(mask, ln::load(entry(B, i)), ln::load(entry(A, i))), entry(A, i));
}

void predict_settling(const ModelLines& model, FilterState& s, LaneBits active) {
  std::swap(s.P_pred, s.P_prev);
  predict_covariance<double>(s.N, model.F.data(), s.P_filt, model.Q.data(), s.P_pred, s.scratch);
  s.settled |= close_lanes(s.N, s.P_pred, s.P_prev, active & s.complete_before & ~s.settled);
  restore_lanes(s.N * s.N, s.P_prev, s.P_pred, s.settled, s.flags);
}

void predict_mean(const ModelLines& model, FilterState& s) {
  if (s.first) return ln::copy_lines(s.N, model.x0.data(), s.x_pred);
  ln::copy_lines(s.N, model.e.data(), s.x_pred);
  ln::multiply_vec<Put::Add, double>(s.N, s.N, model.F.data(), s.x_filt, s.x_pred);
}

void advance_mean_of(const ModelLines& model, FilterState& s,
                     const CovarianceSchedule::Step& step) {
  predict_mean(model, s);
  s.first = false;
  update_mean<double>(model.emission.view(), s.y, static_cast<const double*>(nullptr), s.x_pred,
                      step.G, step.C, step.inv, step.log_det, s.innovation, s.v, s.x_filt, s.nll);
}

LaneBits advance_linear_of(const ModelLines& model, FilterState& s, LaneBits active,
                           LaneBits missing) {
  predict_mean(model, s);
  if (s.first)
    ln::copy_lines(s.N * s.N, model.P0.data(), s.P_pred);
  else if (!s.reusable)
    predict_settling(model, s, active);
  s.first = false;
  const EmissionView h = model.emission.view();
  const double* observed = missing == 0 ? nullptr : s.observed;
  LaneBits failed = 0;
  s.kept = s.reusable && missing == 0;
  if (!s.kept) {
    failed = update_factor<double>(h, observed, s.P_pred, s.G, s.C, s.inv, s.log_det);
    update_covariance<double>(h, observed, s.P_pred, failed, s.P_filt, s.scratch);
  }
  update_mean<double>(h, s.y, observed, s.x_pred, s.G, s.C, s.inv, s.log_det, s.innovation, s.v,
                      s.x_filt, s.nll);
  s.settled &= ~missing;
  s.complete_before = kAllLaneBits & ~missing;
  s.reusable = missing == 0 && (s.settled & active) == active;
  return failed;
}

void predict_linearised_of(const double* Q, FilterState& s) {
  ln::copy_lines(s.N, s.e, s.x_pred);
  ln::multiply_vec<Put::Add, double>(s.N, s.N, s.F, s.x_filt, s.x_pred);
  predict_covariance<double>(s.N, s.F, s.P_filt, Q, s.P_pred, s.scratch);
}

LaneBits update_linearised_of(const double* R, FilterState& s, LaneBits missing) {
  const LaneEmission<double> h{s.N, s.M, s.H, R, nullptr};
  const double* observed = missing == 0 ? nullptr : s.observed;
  const LaneBits failed = update_factor<double>(h, observed, s.P_pred, s.G, s.C, s.inv, s.log_det);
  update_covariance<double>(h, observed, s.P_pred, failed, s.P_filt, s.scratch);
  update_mean<double>(h, s.y, observed, s.x_pred, s.G, s.C, s.inv, s.log_det, s.innovation, s.v,
                      s.x_filt, s.nll);
  return failed;
}

LaneBits smooth_back_of(const double* F, const double* Q, SmootherState& s, LaneBits live,
                        LaneBits same) {
  const int N = s.N;
  LaneBits failed = 0;
  if (!s.gain_valid || (same & live) != live)
    failed = rts_gain<double>(N, F, s.P_filt, s.P_pred, s.J, s.C, s.inv);
  s.gain_valid = true;
  rts_mean<double>(N, s.J, s.x_filt, s.x_pred, s.x_smooth, s.x_out, s.inv);
  std::swap(s.x_smooth, s.x_out);

  s.frozen &= same;
  s.kept = (s.frozen & live) == live;
  if (s.kept) return failed;
  ln::copy_lines<double>(N * N, s.P_smooth, s.Y);
  ln::add_scaled<double>(N * N, 1.0, Q, s.Y);
  rts_covariance<double>(N, F, s.J, s.P_filt, s.Y, s.P_out, s.scratch);
  s.frozen |= close_lanes(N, s.P_out, s.P_smooth, live & same & ~s.frozen);
  restore_lanes(N * N, s.P_smooth, s.P_out, s.frozen, s.flags);
  std::swap(s.P_smooth, s.P_out);
  return failed;
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::kalman {

HWY_EXPORT(advance_linear_of);
HWY_EXPORT(advance_mean_of);
HWY_EXPORT(predict_linearised_of);
HWY_EXPORT(update_linearised_of);
HWY_EXPORT(smooth_back_of);

lanes::LaneBits advance_linear(const ModelLines& model, FilterState& state, lanes::LaneBits active,
                               lanes::LaneBits missing) {
  return HWY_DYNAMIC_DISPATCH(advance_linear_of)(model, state, active, missing);
}
void advance_mean(const ModelLines& model, FilterState& state,
                  const CovarianceSchedule::Step& step) {
  HWY_DYNAMIC_DISPATCH(advance_mean_of)(model, state, step);
}
void predict_linearised(const double* Q, FilterState& state) {
  HWY_DYNAMIC_DISPATCH(predict_linearised_of)(Q, state);
}
lanes::LaneBits update_linearised(const double* R, FilterState& state, lanes::LaneBits missing) {
  return HWY_DYNAMIC_DISPATCH(update_linearised_of)(R, state, missing);
}
lanes::LaneBits smooth_back(const double* F, const double* Q, SmootherState& state,
                            lanes::LaneBits live, lanes::LaneBits same) {
  return HWY_DYNAMIC_DISPATCH(smooth_back_of)(F, Q, state, live, same);
}

}  // namespace kalmia::kalman
#endif  // HWY_ONCE
