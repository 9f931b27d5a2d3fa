// Parts as users write them: "trend + season(24 h, 4)", and for channels of their own
// "north: trend + season(24 h); level".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prior/parts.hpp"

namespace kalmia::prior {

/// A part as a user wrote it, before there are data.
struct WrittenPart {
  Part part;            ///< its scale counts in `unit`; its channel is not yet known
  std::string unit;     ///< "s", "min", "h", "d" or "w"; empty: the time axis' own
  std::string channel;  ///< the column's name; empty: all columns that are not named
};

/// Reads the parts of a sum. Throws ConfigError that names the part or the channel, and its rule.
///
///   text    = group { ";" group }          group = [ channel ":" ] part { "+" part }
///   part    = name [ "(" number [ unit ] [ "," count ] ")" ]
///   channel = a name; one that has : ; + or " in it stands in double quotes, where "" is a quote
std::vector<WrittenPart> parse_parts(std::string_view text);
/// Whether a text is meant as parts: it begins with the name of one, or has a sign of theirs.
bool looks_like_parts(std::string_view text);

/// The parts in steps, for the columns that there are; those that all columns have alike are parts
/// of all channels. Throws ConfigError for units without dates, for a season that so few steps
/// cannot show, for a column that there is not and for one without parts.
std::vector<Part> parts_in_steps(const std::vector<WrittenPart>& written, const DataAxes& axes);
/// As a user would write them, times to six digits.
std::string parts_text(std::span<const Part> parts, const DataAxes& axes);
/// What the parts of one channel are called: "trend", "season(24 h)". Numbers other than a season's
/// period stand there where two parts would share a name; where that does not tell them apart, the
/// second is "memory2".
std::vector<std::string> part_names(std::span<const Part> own, const DataAxes& axes);
/// A time to two digits, or to whole numbers from 100 on: "19 d" where times are dates, else in the
/// time axis' unit.
std::string rough_time_text(double steps, const DataAxes& axes);

}  // namespace kalmia::prior
