#include "kalman/classical/line_state.hpp"

#include <algorithm>

#include "kalman/scratch.hpp"

namespace kalmia::kalman {

template <typename Taker>
void FilterState::lay_out(Taker& taker) {
  for (double** p : {&x_pred, &x_filt, &e}) *p = taker.take(N);
  for (double** p : {&P_pred, &P_prev, &P_filt, &F}) *p = taker.take(N * N);
  for (double** p : {&y, &observed, &innovation, &inv, &v}) *p = taker.take(M);
  for (double** p : {&nll, &log_det, &flags}) *p = taker.take(1);
  for (double** p : {&H, &G}) *p = taker.take(N * M);
  C = taker.take(lanes::triangle_size(M));
  scratch = taker.take(std::max(predict_scratch_lines(N), update_covariance_lines(N, M)));
}

template <typename Taker>
void SmootherState::lay_out(Taker& taker) {
  for (double** p : {&x_filt, &x_pred, &x_smooth, &x_out, &inv}) *p = taker.take(N);
  for (double** p : {&P_filt, &P_pred, &P_smooth, &P_out, &F, &J, &Y}) *p = taker.take(N * N);
  C = taker.take(lanes::triangle_size(N));
  flags = taker.take(1);
  scratch = taker.take(rts_covariance_lines(N));
}

namespace {

// Counts what the state takes, makes room for it and hands it out.
template <typename Layout>
void allocate(Buffer<double>& memory, const Layout& lay_out) {
  lanes::LineCounter counter;
  lay_out(counter);
  memory.resize(static_cast<std::size_t>(counter.count()) * kLanes);
  lanes::LineTaker<double> taker(memory.data());
  lay_out(taker);
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
  allocate(memory_, [this](auto& taker) { lay_out(taker); });
}

void FilterState::restart() {
  memory_.clear();
  first = true;
  settled = complete_before = 0;
  reusable = kept = false;
}

SmootherState::SmootherState(int state_dim) : N(state_dim) {
  allocate(memory_, [this](auto& taker) { lay_out(taker); });
}

void SmootherState::restart() {
  memory_.clear();
  gain_valid = kept = false;
  frozen = 0;
}

}  // namespace kalmia::kalman
