#include "model/distance_factors.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::model {

KnotWeights knot_weights(std::span<const double> steps, double distance) {
  if (!(distance > steps.front())) return {};
  if (distance >= steps.back()) return {steps.size() - 1, {1, 0}};
  const auto above = std::upper_bound(steps.begin(), steps.end(), distance) - steps.begin();
  const auto first = static_cast<std::size_t>(above - 1);
  const double begin = std::log1p(steps[first]), end = std::log1p(steps[first + 1]);
  // Knots of a file may be too close to be told apart.
  const double share = end > begin ? (std::log1p(distance) - begin) / (end - begin) : 0;
  return {first, {1 - share, share}};
}

double DistanceFactors::log_factor(std::size_t channel, double distance) const {
  if (std::isinf(distance)) return std::log(unmeasured);
  const std::vector<double>& row = factors[shared() ? 0 : channel];
  const KnotWeights at = knot_weights(steps, distance);
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i)
    if (at.weights[i] != 0) sum += at.weights[i] * std::log(row[at.first + i]);
  return sum;
}

}  // namespace kalmia::model
