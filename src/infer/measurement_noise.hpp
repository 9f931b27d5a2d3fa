// The covariance of the measurement noise, in the user's units.
#pragma once

#include <vector>

#include "kalmia/model.hpp"

namespace kalmia::infer {

class MeasurementNoise {
 public:
  explicit MeasurementNoise(const Model& model);

  /// Sets R (M x M) to the noise of a measurement whose values have the standard deviations `y_std`
  /// (M; one that is no positive number, as of a missing value: the usual one), null: all have the
  /// usual ones. Tails are part of it (Model::noise).
  void at(const double* y_std, double* R) const;

 private:
  std::vector<double> R_;    // of usual noise
  std::vector<double> std_;  // the deviations that it stands for
};

}  // namespace kalmia::infer
