// How a model goes on from a step where values are missing.
#pragma once

#include <vector>

#include "model/learned_model.hpp"

namespace kalmia::infer {

/// A gap is a forecast (paper, Sec. 5): where a channel was measured before and is not now, the
/// networks are shown h(x[k|<=k]) in its place. The less certain a missing value is, measured by
/// its share of the variance in the training data,
///
///   s_m = min(1, (H P H')_mm / spread_m^2),
///
/// the less counts what is made of it: the networks' residual is trusted to 1 - s_m^2, and the
/// largest s_m^2 of channels that do not, without noise, is the share by which the state itself is
/// lost. The climate takes its place (WindowInput::lost): where the state may be anywhere in the
/// training data, the mean tends to theirs and the spread is theirs. Measured with the Lorenz
/// equations and runs of 100 hidden steps: a linearised map alone covers 0.81 of the truth and
/// loses its way for good, with s_m^2 it covers 0.965; with s_m in place of the square errors are a
/// quarter larger.
///
/// A model whose gap_trust is 0 shows its networks nothing of missing values: their residual rests.
struct GapStep {
  explicit GapStep(int meas_dim)
      : shown(static_cast<std::size_t>(meas_dim)), trust(static_cast<std::size_t>(meas_dim)) {}

  /// `measured` (NaN = missing) and `last` (the last value of each channel, NaN: none yet) have M
  /// numbers, x and P are the state's, all in the model's units.
  template <typename T>
  void set(const model::LearnedModel<T>& model, const double* measured, const double* last,
           const double* x, const double* P);

  std::vector<double> shown;  ///< what the networks read, M; NaN: nothing
  std::vector<double> trust;  ///< M, in 0..1
  double lost = 0;            ///< in 0..1
};

/// Whether any of M values is missing.
bool any_missing(const double* y, int meas_dim);

}  // namespace kalmia::infer
