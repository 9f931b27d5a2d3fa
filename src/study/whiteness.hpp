// Are innovations white? And the distribution that answers it.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace kalmia::study {

/// The probability that a chi-square variable with `degrees` degrees of freedom exceeds `value`:
///
///   Q(degrees / 2, value / 2),   Q(a, x) = 1/Gamma(a) * integral from x to infinity of
///                                          t^(a-1) exp(-t) dt
///
/// Max error: 5e-13 relative down to tails of 1e-300 (degrees up to 1000). Throws ConfigError if
/// degrees is not positive or value is NaN.
double chi_square_upper_tail(double value, double degrees);

/// A Ljung-Box test.
struct LjungBox {
  double statistic = 0;
  int lags = 0;  ///< its degrees of freedom
  double p = 1;  ///< probability of a larger statistic if the values are white
};

/// Tests one channel, given as one sequence per series; NaN is a missing value. With n values, n_l
/// pairs of values l steps apart in the same series, and the mean taken off all values,
///
///   rho_l = (1/n_l sum over pairs of v[k] v[k+l]) / (1/n sum of v[k]^2)
///   Q     = (n + 2) / n * sum over lags of n_l rho_l^2,   chi-square with `lags` degrees of
///   freedom
///
/// which for one complete series is Ljung & Box (1978): there n_l = n - l, and their rho_l is
/// smaller by (n - l) / n. Each rho_l has the variance 1 / n_l whichever values are missing.
///
/// `lags` 0: a fifth of the values of the longest series, but 20 at most. Lags without a pair are
/// left out. Empty if no lag is left, or if all values are the same.
std::optional<LjungBox> ljung_box(const std::vector<std::span<const double>>& series, int lags = 0);

/// The innovations of channel `channel` in their own standard deviations, r_m / sqrt(S_mm):
/// residual is (steps, M) and covariance (steps, M, M). NaN stays NaN.
std::vector<double> normalised_innovations(std::span<const double> residual,
                                           std::span<const double> covariance, std::size_t meas_dim,
                                           std::size_t channel);

}  // namespace kalmia::study
