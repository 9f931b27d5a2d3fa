// The covariances of a constant linear model do not depend on the measurements, only on which of
// them are missing. So all series share one sequence of covariances and gains for as long as they
// have been complete: it is computed once, and each series does the mean's arithmetic only.
#pragma once

#include <vector>

#include "kalman/classical/line_state.hpp"

namespace kalmia::kalman {

/// Steps 0, 1, ... of a filter whose measurements are complete.
class CovarianceSchedule {
 public:
  /// Computes up to `steps` steps; fewer if the covariances settle (the last step then stands for
  /// all that follow), if an innovation covariance is not positive definite (the step is left to
  /// the series that reaches it, which reports it), or at a limit of memory.
  CovarianceSchedule(const ModelLines& model, FilterState& state, int steps);

  /// What a step of the mean needs, in lines.
  struct Step {
    const double *G, *C, *inv, *log_det;
  };
  bool covers(int k) const { return k < count_ || (settled_ && count_ > 0); }
  Step at(int k) const;

  /// Writes P[k|<k] or P[k|<=k] of the steps 0..steps-1, all covered, one after another.
  void write_predicted(int steps, double* rows) const { write(P_pred_, steps, rows); }
  void write_filtered(int steps, double* rows) const { write(P_filt_, steps, rows); }

  /// Puts `state` where it would be after step k had it run by itself; its means are left alone.
  void hand_over(int k, FilterState& state) const;

 private:
  int N_, M_;
  int count_ = 0;
  bool settled_ = false;
  std::size_t step_lines_;
  std::vector<Buffer<double>> lines_;    // per step: G, C, inv, log_det
  std::vector<double> P_pred_, P_filt_;  // N N a step

  void write(const std::vector<double>& moments, int steps, double* rows) const;
};

}  // namespace kalmia::kalman
