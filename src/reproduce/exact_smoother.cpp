#include "reproduce/exact_smoother.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::reproduction {
namespace {

std::vector<double> identity(std::size_t N, double scale) {
  std::vector<double> I(N * N, 0.0);
  for (std::size_t i = 0; i < N; ++i) I[i * N + i] = scale;
  return I;
}

// f linearised at the path z: f(z[k-1]) + J (x - z[k-1]).
NonlinearModel::Function linearised(const NonlinearModel::Function& f,
                                    const std::vector<double>& path, std::size_t N) {
  return [&f, &path, N](std::span<const double> x, int k, std::span<double> value,
                        std::span<double> jacobian) {
    const std::span<const double> at(&path[static_cast<std::size_t>(k - 1) * N], N);
    f(at, k, value, jacobian);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) value[i] += jacobian[i * N + j] * (x[j] - at[j]);
  };
}

double largest_move(const std::vector<double>& path, const Moments& smoothed, std::size_t N) {
  double largest = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const double variance = smoothed.covariance[(i / N) * N * N + (i % N) * (N + 1)];
    const double move = std::abs(smoothed.mean[i] - path[i]) / std::sqrt(variance);
    if (!std::isfinite(move))
      throw NumericalError("exact smoothing: step " + std::to_string(i / N) + " is not finite");
    largest = std::max(largest, move);
  }
  return largest;
}

}  // namespace

FilterResult smooth_exactly(const NonlinearModel& model, const MeasurementsView& y,
                            const ExactSmootherOptions& options) {
  const auto N = static_cast<std::size_t>(model.state_dim);
  NonlinearModel now = model;
  double variance = options.first_variance;
  now.Q = identity(N, variance);
  FilterResult result = extended_rts_smoother(now, y);
  std::vector<double> path(result.smoothed.mean.begin(), result.smoothed.mean.end());
  now.transition = linearised(model.transition, path, N);
  for (int round = 0; round < options.max_rounds; ++round) {
    const bool last = variance == options.last_variance;
    variance = std::max(options.last_variance, options.factor * variance);
    now.Q = identity(N, variance);
    result = extended_rts_smoother(now, y);
    const double move = largest_move(path, result.smoothed, N);
    path.assign(result.smoothed.mean.begin(), result.smoothed.mean.end());
    if (last && move < options.tolerance) return result;
  }
  throw NumericalError("exact smoothing: the path has not settled in " +
                       std::to_string(options.max_rounds) + " rounds");
}

}  // namespace kalmia::reproduction
