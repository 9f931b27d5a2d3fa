// The covariance of the measurement noise, in the user's units.
#pragma once

#include <vector>

#include "kalmia/model.hpp"

namespace kalmia::infer {

/// How much wider than a normal distribution's of the same scale the bars of Student-t noise are,
/// squared: nu / (nu - 2), its variance, where that exists. Up to 2 degrees of freedom there is
/// none; then 1.96 of the bars hold 95 % of the noise. `tails`: nu; 0: normal noise, which gives 1.
double tail_factor(double tails);

class MeasurementNoise {
 public:
  explicit MeasurementNoise(const Model& model);

  /// Sets R (M x M) to the noise of a measurement whose values have the standard deviations `y_std`
  /// (M; one that is no positive number, as of a missing value: the usual one), null: all have the
  /// usual ones. Tails are part of it.
  void at(const double* y_std, double* R) const;

 private:
  std::vector<double> R_;    // of usual noise
  std::vector<double> std_;  // the deviations that R_ stands for
};

}  // namespace kalmia::infer
