#include "reproduce/decomposition.hpp"

#include <algorithm>
#include <cmath>

#include "study/scores.hpp"

namespace kalmia::reproduction {

Decomposition decompose(const Dataset& data, const study::Truth& truth,
                        const std::vector<Innovations>& innovations, std::span<const double> R) {
  const std::size_t M = data.y_names.size();
  study::Mean self_supervised, reducible, prediction, difference, difference_square;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Series& series = data.series[s];
    const std::vector<double>& residual = innovations[s].residual;
    for (std::size_t k = kUnscored; k < static_cast<std::size_t>(series.steps); ++k)
      for (std::size_t m = 0; m < M; ++m) {
        const double r = residual[k * M + m];
        const double error = series.y[k * M + m] - r - truth.y[s][k * M + m];
        self_supervised.add(r * r);
        reducible.add(r * r - R[m * M + m]);
        prediction.add(error * error);
        const double one = r * r - R[m * M + m] - error * error;
        difference.add(one);
        difference_square.add(one * one);
      }
  }
  const double mean = difference.value().value_or(0);
  const double variance = std::max(0.0, difference_square.value().value_or(0) - mean * mean);
  return {self_supervised.value().value_or(0), reducible.value().value_or(0),
          prediction.value().value_or(0),
          std::sqrt(variance / static_cast<double>(std::max<std::size_t>(1, difference.count())))};
}

}  // namespace kalmia::reproduction
