#include "kalman/student_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::kalman {

// With t = -log w the integrand is, but for constants, exp(-nu / 2 (t + e^-t)) times a density that
// changes little within a step.
StudentNodes::StudentNodes(double degrees_of_freedom) {
  constexpr double kFurthest = 30;       // e^15 deviations
  constexpr double kLeastShare = 1e-12;  // of the largest
  constexpr double kStep = 1.25, kLongestStep = 0.75;
  const double nu = degrees_of_freedom;
  const double step = std::min(kStep / std::sqrt(nu + 1), kLongestStep);
  const auto log_share_at = [&](double t) { return -0.5 * nu * (t + std::expm1(-t)); };
  int first = 0, last = 0;
  while (log_share_at((first - 1) * step) > std::log(kLeastShare)) --first;
  while (last - first + 1 < kMost && (last + 1) * step < kFurthest &&
         log_share_at((last + 1) * step) > std::log(kLeastShare))
    ++last;
  double sum = 0;
  for (int i = first; i <= last; ++i) sum += std::exp(log_share_at(i * step));
  for (int i = first; i <= last; ++i) {
    const auto k = static_cast<std::size_t>(count++);
    weight[k] = std::exp(-i * step);
    scale[k] = std::exp(0.5 * i * step);
    log_share[k] = log_share_at(i * step) - std::log(sum);
  }
}

}  // namespace kalmia::kalman
