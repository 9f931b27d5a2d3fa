/// \file
/// One line of measurements.
#pragma once

#include <span>
#include <string_view>

namespace kalmia::cli {

/// A line `v1,v2,...` or, with a key, `key,v1,v2,...`; without commas its parts are separated by
/// spaces. Empty, NaN and NA are missing values; nothing at all (after the key) means that nothing
/// was measured. Fills `values` and returns the key, a part of `line`. Throws DataError.
std::string_view parse_stream_line(std::string_view line, bool keyed, std::span<double> values);

}  // namespace kalmia::cli
