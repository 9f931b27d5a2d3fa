// Student's t distribution: its moments, and its parameters fitted to standardised residuals.
#pragma once

#include <span>
#include <vector>

namespace kalmia::kalman {

/// Limits of a fitted nu. At the lower one the variance ceases to exist; at the upper one the
/// distribution is the normal one for all practical purposes.
inline constexpr double kLeastDegreesOfFreedom = 2;
inline constexpr double kMostDegreesOfFreedom = 200;
/// The largest nu that may be given. Far beyond it, the nodes of its mixture are not found.
inline constexpr double kLargestDegreesOfFreedom = 1e6;

/// The variance of t_nu of unit scale, nu / (nu - 2). For nu <= 2 there is none: the variance of
/// the Gaussian with the same 95 % interval stands for it.
double student_variance(double degrees_of_freedom);

/// The covariance of noise r_i = e_i / sqrt(w_i), e ~ N(0, R), independent w_i ~ Gamma(nu / 2,
/// nu / 2): student_variance(nu) R_ii, and R_ij times the square of the mean of w^-1/2. R (M x M)
/// in, the same shape out. For nu <= 2 correlations are R's.
std::vector<double> student_covariance(double degrees_of_freedom, const std::vector<double>& R);

/// The entropy of t_nu of unit scale, in nats; above that of the Gaussian, (1 + log 2 pi) / 2.
double student_entropy(double degrees_of_freedom);

struct StudentFit {
  double degrees_of_freedom = kMostDegreesOfFreedom;  ///< nu
  double scale = 1;                                   ///< s
};

/// The nu that makes residuals z, given by their squares, likeliest as z ~ t_nu of unit scale.
/// No residuals give the upper limit.
/// Throws DataError naming the entry if a square is negative or not finite.
double fit_degrees_of_freedom(std::span<const double> squared_residuals);

/// The same with z / s ~ t_nu and s fitted as well. Residuals that are all zero give s = 0.
StudentFit fit_student(std::span<const double> squared_residuals);

}  // namespace kalmia::kalman
