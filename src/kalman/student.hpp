// Student's t distribution fitted to standardised residuals.
#pragma once

#include <span>

namespace kalmia::kalman {

/// Limits of a fitted nu. At the lower one the variance ceases to exist; at the upper one the
/// distribution is the normal one for all practical purposes.
inline constexpr double kLeastDegreesOfFreedom = 2;
inline constexpr double kMostDegreesOfFreedom = 200;

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
