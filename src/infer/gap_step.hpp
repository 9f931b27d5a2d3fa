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
/// the less it counts. The networks' residual is trusted to 1 - s_m^2. The state is lost by the
/// largest s_m^2, taken without noise and over the channels that do not wander: to that share the
/// climate leads on in place of the map (heads::Guidance::lost). Once the state may be anywhere in
/// the training data, its mean tends to their mean, and its spread is their spread. A channel whose
/// first value is still to come is in no gap, if others have begun: the map ties that value to what
/// they measure.
///
/// Measured with the Lorenz equations (rk4) and runs of 100 hidden steps: the linearised map alone
/// covers 0.42 of the truth, since the filter loses its way for good; with the climate 0.93.
///
/// A model whose gap_trust is 0 shows its networks nothing of missing values: their residual rests.
struct GapStep {
  explicit GapStep(int meas_dim)
      : shown(static_cast<std::size_t>(meas_dim)),
        trust(static_cast<std::size_t>(meas_dim)),
        predicted_(static_cast<std::size_t>(meas_dim)) {}

  /// `measured` (NaN = missing) and `last` (the last value of each channel, NaN: none yet) have M
  /// numbers, x and P are the state's, all in the model's units.
  template <typename T>
  void set(const model::LearnedModel<T>& model, const double* measured, const double* last,
           const double* x, const double* P);

  std::vector<double> shown;  ///< what the networks read, M; NaN: nothing
  std::vector<double> trust;  ///< M, in 0..1
  double lost = 0;            ///< in 0..1

 private:
  std::vector<double> predicted_;  // h(x)
  std::vector<double> H_;          // of a nonlinear emission, at x
};

/// Whether any of M values is missing.
bool any_missing(const double* y, int meas_dim);

}  // namespace kalmia::infer
