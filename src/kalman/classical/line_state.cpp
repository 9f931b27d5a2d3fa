#include "kalman/classical/line_state.hpp"

#include <algorithm>

#include "kalman/scratch.hpp"

namespace kalmia::kalman {
namespace {

// Hands out consecutive pieces of one buffer; run first without a buffer to learn its size.
class Layout {
 public:
  explicit Layout(double* base) : base_(base) {}
  void take(double*& pointer, int lines) {
    if (base_ != nullptr) pointer = base_ + used_;
    used_ += static_cast<std::size_t>(lines) * kLanes;
  }
  std::size_t used() const { return used_; }

 private:
  double* base_;
  std::size_t used_ = 0;
};

std::size_t lay_out(FilterState& s, double* base) {
  const int N = s.N;
  const int M = s.M;
  Layout layout(base);
  for (double** p : {&s.x_pred, &s.x_filt, &s.e}) layout.take(*p, N);
  for (double** p : {&s.P_pred, &s.P_prev, &s.P_filt, &s.F}) layout.take(*p, N * N);
  for (double** p : {&s.y, &s.observed, &s.innovation, &s.inv, &s.v}) layout.take(*p, M);
  for (double** p : {&s.nll, &s.log_det, &s.flags}) layout.take(*p, 1);
  for (double** p : {&s.H, &s.G}) layout.take(*p, N * M);
  layout.take(s.C, lanes::triangle_size(M));
  layout.take(s.scratch, std::max(predict_scratch_lines(N), update_covariance_lines(N, M)));
  return layout.used();
}

std::size_t lay_out(SmootherState& s, double* base) {
  const int N = s.N;
  Layout layout(base);
  for (double** p : {&s.x_filt, &s.x_pred, &s.x_smooth, &s.x_out, &s.inv}) layout.take(*p, N);
  for (double** p : {&s.P_filt, &s.P_pred, &s.P_smooth, &s.P_out, &s.F, &s.J, &s.Y})
    layout.take(*p, N * N);
  layout.take(s.C, lanes::triangle_size(N));
  layout.take(s.flags, 1);
  layout.take(s.scratch, rts_covariance_lines(N));
  return layout.used();
}

}  // namespace

Buffer<double> spread_over_lanes(const std::vector<double>& values) {
  Buffer<double> lines(values.size() * kLanes);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t b = 0; b < kLanes; ++b) lines[i * kLanes + b] = values[i];
  return lines;
}

void write_lane(double* lines, int count, int lane, const double* in) {
  for (int i = 0; i < count; ++i) lines[i * kLanes + lane] = in[i];
}

FilterState::FilterState(int state_dim, int meas_dim) : N(state_dim), M(meas_dim) {
  memory_.resize(lay_out(*this, nullptr));
  lay_out(*this, memory_.data());
}

void FilterState::restart() {
  memory_.clear();
  first = true;
  settled = complete_before = 0;
  reusable = kept = false;
}

SmootherState::SmootherState(int state_dim) : N(state_dim) {
  memory_.resize(lay_out(*this, nullptr));
  lay_out(*this, memory_.data());
}

void SmootherState::restart() {
  memory_.clear();
  gain_valid = kept = false;
  frozen = 0;
}

}  // namespace kalmia::kalman
