#include "study/whiteness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "study/chi_square.hpp"

namespace kalmia::study {

std::optional<LjungBox> ljung_box(const std::vector<std::span<const double>>& series, int lags) {
  double n = 0, mean = 0;
  std::size_t longest = 0;
  for (const std::span<const double> values : series) {
    std::size_t here = 0;
    for (const double value : values) {
      if (std::isnan(value)) continue;
      ++here;
      n += 1;
      mean += (value - mean) / n;
    }
    longest = std::max(longest, here);
  }
  if (lags <= 0) lags = static_cast<int>(std::min<std::size_t>(20, longest / 5));
  double square = 0;
  for (const std::span<const double> values : series)
    for (const double value : values)
      if (!std::isnan(value)) square += (value - mean) * (value - mean);
  if (square == 0) return std::nullopt;
  const double variance = square / n;

  LjungBox test;
  for (std::size_t lag = 1; lag <= static_cast<std::size_t>(lags); ++lag) {
    double pairs = 0, sum = 0;
    for (const std::span<const double> values : series)
      for (std::size_t k = lag; k < values.size(); ++k) {
        const double product = (values[k] - mean) * (values[k - lag] - mean);
        if (std::isnan(product)) continue;
        pairs += 1;
        sum += product;
      }
    if (pairs == 0) continue;
    const double rho = sum / pairs / variance;
    test.statistic += (n + 2) / n * pairs * rho * rho;
    ++test.lags;
  }
  if (test.lags == 0) return std::nullopt;
  test.p = chi_square_upper_tail(test.statistic, test.lags);
  return test;
}

std::vector<double> normalised_innovations(std::span<const double> residual,
                                           std::span<const double> covariance, std::size_t meas_dim,
                                           std::size_t channel) {
  const std::size_t steps = residual.size() / meas_dim;
  std::vector<double> normalised(steps);
  for (std::size_t k = 0; k < steps; ++k)
    normalised[k] = residual[k * meas_dim + channel] /
                    std::sqrt(covariance[(k * meas_dim + channel) * meas_dim + channel]);
  return normalised;
}

}  // namespace kalmia::study
