#include "infer/distances.hpp"

#include <cmath>
#include <limits>

namespace kalmia::infer {

Distances distances_of(const SeriesView& series, int meas_dim) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto M = static_cast<std::size_t>(meas_dim);
  const auto steps = static_cast<std::size_t>(series.steps);
  const auto length = [&](std::size_t k) {
    return series.dt_ratio == nullptr ? 1 : series.dt_ratio[k];
  };
  Distances found;
  found.since.assign(steps * M, kNever);
  found.between.assign(steps * M, kNever);
  for (std::size_t m = 0; m < M; ++m) {
    double before = kNever, after = kNever;
    for (std::size_t k = 0; k < steps; ++k) {
      if (k > 0) before += length(k);
      found.since[k * M + m] = before;
      if (!std::isnan(series.y[k * M + m])) before = 0;
    }
    for (std::size_t k = steps; k-- > 0;) {
      // 1 / infinity is 0.
      found.between[k * M + m] = 1 / (1 / found.since[k * M + m] + 1 / after);
      if (!std::isnan(series.y[k * M + m])) after = 0;
      if (k > 0) after += length(k);
    }
  }
  return found;
}

}  // namespace kalmia::infer
