// Factors of variances that depend on how far away the measurements are.
#pragma once

#include <span>
#include <vector>

namespace kalmia::model {

/// Factors s of the variances of predictions. They depend on the steps d between the state that is
/// predicted and the measurements of a channel that it is predicted from (distances.hpp): log s is
/// linear in log(1 + d) between the knots, and stays what it is at the first and the last one
/// beyond them.
struct DistanceFactors {
  std::vector<double> steps = {1};  ///< d of the knots, rising
  /// s at the knots, channel by channel; one row: all channels have the same.
  std::vector<std::vector<double>> factors = {{1}};
  double unmeasured = 1;  ///< s where a channel has no measurement to predict from

  DistanceFactors() = default;
  /// One factor whatever the distance.
  DistanceFactors(double factor)  // NOLINT(google-explicit-constructor): a number is a factor
      : factors{{factor}}, unmeasured(factor) {}

  bool shared() const { return factors.size() == 1; }
  /// log s of a channel at a distance, which is infinite where there is no measurement.
  double log_factor(std::size_t channel, double distance) const;
};

/// How much of the knots a distance is: log s is the sum of weights[i] log s at knot first + i.
struct KnotWeights {
  std::size_t first = 0;
  double weights[2] = {1, 0};
};
KnotWeights knot_weights(std::span<const double> steps, double distance);

}  // namespace kalmia::model
