// Checks of matrices that users hand in. Messages name the matrix, the entry, its value and the
// rule.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kalmia::kalman {

/// The number as a person would write it: shortest form that reads back as the same value.
std::string number_text(double value);

/// Throws ConfigError unless `matrix` has rows * cols finite entries.
void check_matrix(std::string_view name, const std::vector<double>& matrix, int rows, int cols);

/// Throws ConfigError unless `matrix` (n x n) is symmetric up to rounding (1e-9 of its largest
/// entry).
void check_symmetric(std::string_view name, const std::vector<double>& matrix, int n);

/// Throws ConfigError unless the symmetric `matrix` has a positive diagonal and is positive
/// definite. `why` explains the rule.
void check_positive_definite(std::string_view name, const std::vector<double>& matrix, int n,
                             std::string_view why);

/// Throws ConfigError unless the symmetric `matrix` is positive semi-definite up to rounding.
void check_positive_semidefinite(std::string_view name, const std::vector<double>& matrix, int n);

}  // namespace kalmia::kalman
