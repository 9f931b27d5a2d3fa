/// \file
/// Names of columns and series, which may hold any bytes, as text.
#pragma once

#include <string>
#include <string_view>

namespace kalmia {

/// For people, on one line: control characters are shown as \n, \t, \x1b and the like, bytes that
/// are no UTF-8 as \xe9, characters that turn the direction of writing or end lines as \u202e.
/// Everything else stays as it is.
std::string printable(std::string_view text);

/// A field of comma-separated values: in quotes, with those inside doubled, where a reader would
/// otherwise see something else (separators, quotes, line ends, blanks at the ends).
std::string csv_field(std::string_view text);

}  // namespace kalmia
