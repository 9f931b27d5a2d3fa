#include "study/whiteness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kalmia/error.hpp"

namespace kalmia::study {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// x^a exp(-x) / Gamma(a).
double front_factor(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

// P(a, x) = x^a exp(-x) / Gamma(a) * sum of x^n / (a (a+1) ... (a+n)). The terms fall from the
// first one on if x < a + 1.
double lower_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (double n = 1; term > kEpsilon * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return front_factor(a, x) * sum;
}

// Q(a, x) = x^a exp(-x) / Gamma(a) * 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...))), evaluated from
// the front (Lentz 1976); for x >= a + 1.
double upper_by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (double n = 1;; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = numerator * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double factor = d * c;
    fraction *= factor;
    if (std::abs(factor - 1) < 4 * kEpsilon) break;
  }
  return front_factor(a, x) * fraction;
}

}  // namespace

double chi_square_upper_tail(double value, double degrees) {
  if (!(degrees > 0) || !std::isfinite(degrees) || std::isnan(value))
    throw ConfigError(
        fmt::format("chi_square_upper_tail: value = {}, degrees = {}, but degrees must be positive "
                    "and finite and value a number",
                    value, degrees));
  if (value <= 0) return 1;
  if (std::isinf(value)) return 0;
  const double a = degrees / 2, x = value / 2;
  const double tail = x < a + 1 ? 1 - lower_by_series(a, x) : upper_by_fraction(a, x);
  return std::clamp(tail, 0.0, 1.0);
}

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
