// The rules that values from files obey, whatever the format.
#pragma once

#include <cmath>
#include <string>

#include "kalmia/data.hpp"

namespace kalmia::data {

/// Squares and products of four such values still are far from the largest double.
inline constexpr double kLargestValue = 1e100;

/// Whether a value is missing (NaN) or small enough to compute with.
inline bool usable(double value) { return std::isnan(value) || std::abs(value) <= kLargestValue; }

/// Throws the DataError for a value that is not usable. `where` is file, line and column.
[[noreturn]] void refuse_value(const std::string& where, double value);

/// Throws DataError unless `next` is a time that comes after `last` (NaN: nothing was before).
void check_time(const std::string& where, TimeKind kind, double last, double next);

/// Throws DataError if `steps` is more than a series can count.
void check_steps(const std::string& where, std::size_t steps);

}  // namespace kalmia::data
