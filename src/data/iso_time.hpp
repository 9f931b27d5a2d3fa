// Dates as text (ISO 8601) and as seconds since 1970-01-01 00:00 UTC.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kalmia::data {

/// Reads YYYY-MM-DD, optionally followed by T or a space and HH:MM, HH:MM:SS or HH:MM:SS.fraction,
/// then Z, +HH, +HHMM or +HH:MM. Without an offset the time is UTC. Empty if the text is anything
/// else or no date of the calendar.
std::optional<double> parse_iso_time(std::string_view text);

/// The date that a number stands for when it is read as eight digits, YYYYMMDD; empty if it is no
/// date of the calendar.
std::optional<double> date_of_digits(double yyyymmdd);

/// How exactly dates are written.
enum class DateStyle {
  Day,     ///< YYYY-MM-DD
  Second,  ///< YYYY-MM-DDTHH:MM:SS, with a fraction where there is one
};

/// Day if all times are at midnight.
DateStyle date_style(std::span<const double> seconds);

/// The shortest text of that style that reads back as the same number. Times before the year 0 or
/// after the year 9999, which ISO 8601 has no digits for, are written as plain numbers.
std::string iso_text(double seconds, DateStyle style);

}  // namespace kalmia::data
