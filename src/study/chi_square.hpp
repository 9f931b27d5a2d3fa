// The tail of the chi-square distribution.
#pragma once

namespace kalmia::study {

/// The probability that a chi-square variable with `degrees` degrees of freedom exceeds `value`:
///
///   Q(degrees / 2, value / 2),   Q(a, x) = 1/Gamma(a) * integral from x to infinity of
///                                          t^(a-1) exp(-t) dt
///
/// Max error: 5e-13 relative down to tails of 1e-300 (degrees up to 1000). Throws ConfigError if
/// degrees is not positive or value is NaN.
double chi_square_upper_tail(double value, double degrees);

}  // namespace kalmia::study
