#include "kalman/covariance_schedule.hpp"

#include <algorithm>

#include "kalman/classical_step.hpp"

namespace kalmia::kalman {
namespace {

// Bytes the schedule may take; series that run longer without settling go on by themselves.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

}  // namespace

CovarianceSchedule::CovarianceSchedule(const ModelLines& model, FilterState& state, int steps)
    : N_(state.N), M_(state.M) {
  const int triangle = lanes::triangle_size(M_);
  step_lines_ = static_cast<std::size_t>(N_ * M_ + triangle + M_ + 1) * kLanes;
  const auto moment = static_cast<std::size_t>(N_ * N_);
  const std::size_t step_bytes = (step_lines_ + 2 * moment) * sizeof(double);
  const int most = std::min(steps, static_cast<int>(kMostBytes / step_bytes) + 1);
  state.restart();
  while (count_ < most && !settled_) {
    if (advance_linear(model, state, kAllLaneBits, 0) != 0) break;
    settled_ = state.kept;
    if (settled_) break;
    Buffer<double>& lines = lines_.emplace_back(step_lines_);
    double* to = lines.data();
    to = std::copy_n(state.G, N_ * M_ * kLanes, to);
    to = std::copy_n(state.C, triangle * kLanes, to);
    to = std::copy_n(state.inv, M_ * kLanes, to);
    std::copy_n(state.log_det, kLanes, to);
    read_lane(state.P_pred, N_ * N_, 0, P_pred_.emplace_back(moment).data());
    read_lane(state.P_filt, N_ * N_, 0, P_filt_.emplace_back(moment).data());
    ++count_;
  }
}

CovarianceSchedule::Step CovarianceSchedule::at(int k) const {
  const auto step = static_cast<std::size_t>(std::min(k, count_ - 1));
  const double* G = lines_[step].data();
  const double* C = G + N_ * M_ * kLanes;
  const double* inv = C + lanes::triangle_size(M_) * kLanes;
  return {G, C, inv, inv + M_ * kLanes, P_pred_[step].data(), P_filt_[step].data()};
}

void CovarianceSchedule::hand_over(int k, FilterState& state) const {
  state.first = false;
  state.settled = settled_ && k >= count_ - 1 ? kAllLaneBits : 0;
  state.complete_before = kAllLaneBits;
  state.reusable = state.kept = false;
  const Step step = at(k);
  for (int b = 0; b < kLanes; ++b) {
    write_lane(state.P_pred, N_ * N_, b, step.P_pred);
    write_lane(state.P_filt, N_ * N_, b, step.P_filt);
  }
}

}  // namespace kalmia::kalman
