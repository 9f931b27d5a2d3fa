#include "infer/mixture.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::infer {

void add_to_mixture(int count, int dim, std::span<const double> mean,
                    std::span<const double> covariance, std::span<double> mixed_mean,
                    std::span<double> mixed_covariance) {
  const auto N = static_cast<std::size_t>(dim);
  const double share = 1.0 / count;
  const double spread = (count - 1) * share * share;
  for (std::size_t row = 0; row < mean.size(); row += N) {
    const double* C = covariance.data() + row * N;
    double* mixed = mixed_covariance.data() + row * N;
    // Products of two differences commute: the result is as symmetric as what came in.
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) {
        const double d_i = mean[row + i] - mixed_mean[row + i];
        const double d_j = mean[row + j] - mixed_mean[row + j];
        double& entry = mixed[i * N + j];
        entry =
            count == 1 ? C[i * N + j] : entry + (C[i * N + j] - entry) * share + d_i * d_j * spread;
      }
  }
  add_to_mean(count, mean, mixed_mean);
}

void add_to_mean(int count, std::span<const double> values, std::span<double> mean) {
  const double share = 1.0 / count;
  for (std::size_t i = 0; i < values.size(); ++i)
    mean[i] = count == 1 ? values[i] : mean[i] + (values[i] - mean[i]) * share;
}

double mixture_nll(std::span<const double> nll) {
  // The smallest is taken out, so that nothing overflows.
  const double least = *std::ranges::min_element(nll);
  double sum = 0;
  for (const double each : nll) sum += std::exp(-0.5 * (each - least));
  return least - 2 * std::log(sum / static_cast<double>(nll.size()));
}

}  // namespace kalmia::infer
