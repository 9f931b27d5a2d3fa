// Numbers as text.
#pragma once

#include <string>
#include <string_view>

namespace kalmia::data {

/// What a piece of text is.
enum class NumberText { Number, Missing, Other };

/// Reads a number in plain or scientific notation, decimals after a point; the text around it may
/// be blank. Missing (`value` becomes NaN) is: nothing at all, NaN, NA, N/A, #N/A, <NA>, null and
/// None, in capital letters or not. Infinity is a number here, and so is what overflows to it.
NumberText parse_number(std::string_view text, double& value);

/// The shortest text that reads back as the same number.
std::string number_text(double value);

/// Text from a file for use in a message: in quotes, shortened, as `printable` shows it.
std::string in_quotes(std::string_view text);

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace kalmia::data
