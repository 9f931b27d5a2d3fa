#include "kalman/classical/covariance_schedule.hpp"

#include <algorithm>

#include "kalman/classical/line_step.hpp"

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
    ++count_;
    P_pred_.resize(static_cast<std::size_t>(count_) * moment);
    P_filt_.resize(P_pred_.size());
    read_lane(state.P_pred, N_ * N_, 0, P_pred_.data() + P_pred_.size() - moment);
    read_lane(state.P_filt, N_ * N_, 0, P_filt_.data() + P_filt_.size() - moment);
  }
}

CovarianceSchedule::Step CovarianceSchedule::at(int k) const {
  const double* G = lines_[static_cast<std::size_t>(std::min(k, count_ - 1))].data();
  const double* C = G + N_ * M_ * kLanes;
  const double* inv = C + lanes::triangle_size(M_) * kLanes;
  return {G, C, inv, inv + M_ * kLanes};
}

// Long copies: they run at the memory's speed, where row by row would not.
void CovarianceSchedule::write(const std::vector<double>& moments, int steps, double* rows) const {
  const auto row = static_cast<std::size_t>(N_ * N_);
  const std::size_t wanted = static_cast<std::size_t>(steps) * row;
  std::size_t written = std::min(wanted, moments.size());
  std::copy_n(moments.data(), written, rows);
  // The last step stands for all that follow: copy what has been written of it, twice as much a
  // time.
  const double* last = rows + written - row;
  while (written < wanted) {
    const auto repeated = static_cast<std::size_t>(rows + written - last);
    const std::size_t count =
        std::min({wanted - written, repeated, std::size_t{4096} / row * row + row});
    std::copy_n(last, count, rows + written);
    written += count;
  }
}

void CovarianceSchedule::hand_over(int k, FilterState& state) const {
  state.first = false;
  state.settled = settled_ && k >= count_ - 1 ? kAllLaneBits : 0;
  state.complete_before = kAllLaneBits;
  state.reusable = state.kept = false;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(std::min(k, count_ - 1)) * N_ * N_;
  for (int b = 0; b < kLanes; ++b) {
    write_lane(state.P_pred, N_ * N_, b, P_pred_.data() + row);
    write_lane(state.P_filt, N_ * N_, b, P_filt_.data() + row);
  }
}

}  // namespace kalmia::kalman
