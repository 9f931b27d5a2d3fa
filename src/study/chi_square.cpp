#include "study/chi_square.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

}  // namespace kalmia::study
