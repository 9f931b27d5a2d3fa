// What one line of lanes (8 series) carries from step to step in the classical filters: plain
// data, laid out once, that the kernels of line_step.hpp work on.
#pragma once

#include <cstddef>
#include <vector>

#include "base/buffer.hpp"
#include "kalman/emission.hpp"
#include "lanes/panel.hpp"

namespace kalmia::kalman {

inline constexpr int kLanes = lanes::kLineLanes<double>;
inline constexpr lanes::LaneBits kAllLaneBits = (lanes::LaneBits{1} << kLanes) - 1;

/// A vector or matrix, the same in every lane.
Buffer<double> spread_over_lanes(const std::vector<double>& values);
/// Entry i of `lane` is out[i] / in[i].
inline void read_lane(const double* lines, int count, int lane, double* out) {
  for (int i = 0; i < count; ++i) out[i] = lines[i * kLanes + lane];
}
void write_lane(double* lines, int count, int lane, const double* in);

/// A linear model's constant matrices, spread over lanes.
struct ModelLines {
  Buffer<double> F, e, Q, x0, P0;
  Emission emission;
};

/// The running filter of one line.
class FilterState {
 public:
  FilterState(int state_dim, int meas_dim);

  /// Forgets everything: the next step is step 0.
  void restart();

  int N, M;
  // Line matrices. y, observed (flags 1 / 0) are inputs; F, e, H those of a linearised model.
  double *x_pred, *P_pred, *P_prev, *x_filt, *P_filt;
  double *y, *observed, *innovation, *nll;
  double *F, *e, *H;
  double *G, *C, *inv, *log_det, *v, *flags, *scratch;

  bool first = true;
  /// Lanes whose P_pred has stopped changing, and is kept.
  lanes::LaneBits settled = 0;
  /// Lanes without a missing component at the previous step.
  lanes::LaneBits complete_before = 0;
  /// G, C, inv, log_det and P_filt belong to a P_pred that is settled in all active lanes.
  bool reusable = false;
  /// The last step left P_pred and P_filt as they were.
  bool kept = false;

 private:
  template <typename Taker>
  void lay_out(Taker& taker);

  Buffer<double> memory_;
};

/// The running smoother of one line, going backward.
class SmootherState {
 public:
  explicit SmootherState(int state_dim);
  void restart();

  int N;
  // Filtered at k-1, predicted at k, smoothed at k; after a step, smoothed at k-1.
  double *x_filt, *P_filt, *x_pred, *P_pred, *x_smooth, *P_smooth;
  double *x_out, *P_out, *F;
  double *J, *Y, *C, *inv, *flags, *scratch;

  /// J is that of the P_filt, P_pred now loaded.
  bool gain_valid = false;
  /// Lanes whose P_smooth has stopped changing, and is kept.
  lanes::LaneBits frozen = 0;
  /// The last step left P_smooth as it was.
  bool kept = false;

 private:
  template <typename Taker>
  void lay_out(Taker& taker);

  Buffer<double> memory_;
};

}  // namespace kalmia::kalman
