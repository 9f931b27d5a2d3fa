// The rules that values from files obey, whatever the format.
#pragma once

#include <cmath>
#include <string>

#include "kalmia/data.hpp"

namespace kalmia::data {

/// Squares and products of four such values still are far from the largest double.
inline constexpr double kLargestValue = 1e100;
/// The least deviation of noise: its square is a number as well.
inline constexpr double kLeastStd = 1e-100;

/// Whether a value is missing (NaN) or small enough to compute with.
inline bool usable(double value) { return std::isnan(value) || std::abs(value) <= kLargestValue; }

/// Throws the DataError for a value that is not usable. `where` is file, line and column.
[[noreturn]] void refuse_value(const std::string& where, double value);

/// Whether `std` can be the standard deviation of the noise of a measurement y: above 0, and its
/// square is a number. A missing y needs none.
inline bool usable_std(double std, double y) {
  return std::isnan(y) || (std >= kLeastStd && std <= kLargestValue);
}

/// Throws the DataError for a deviation that is not usable; `measured` is the column it is of.
[[noreturn]] void refuse_std(const std::string& where, double std, const std::string& measured);

/// Throws DataError, naming series, step and column, unless y_std of the data has the sizes that
/// the names ask for and every measured value has a usable deviation.
void check_stds(const Dataset& data);

/// Throws DataError unless `next` is a time that comes after `last` (NaN: nothing was before).
void check_time(const std::string& where, TimeKind kind, double last, double next);

/// Throws DataError if `steps` is more than a series can count.
void check_steps(const std::string& where, std::size_t steps);

}  // namespace kalmia::data
