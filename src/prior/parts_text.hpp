// Parts as users write them: "trend + season(24 h, 4)", and for channels of their own
// "north: trend + season(24 h); level". Equations may stand before them: "lorenz + memory(3 s)".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prior/parts.hpp"
#include "prior/prior_kind.hpp"

namespace kalmia::prior {

/// A part as a user wrote it, before there are data.
struct WrittenPart {
  Part part;            ///< its scale counts in `unit`; its channel is not yet known
  std::string unit;     ///< "s", "min", "h", "d" or "w"; empty: the time axis' own
  std::string channel;  ///< the column's name; empty: all columns that are not named
};

struct WrittenSum {
  std::optional<PriorKind> map;  ///< the equations that the parts are added to
  std::vector<WrittenPart> parts;
};

/// Reads a sum. Throws ConfigError that names the part or the channel, and its rule.
///
///   text    = [ map ( "+" | ";" ) ] group { ";" group }
///   map     = the name of a prior that takes_parts
///   group   = [ channel ":" ] part { "+" part }
///   part    = name [ "(" number [ unit ] [ "," count ] ")" ]
///   channel = a name; one that has : ; + or " in it stands in double quotes, where "" is a quote
///
/// Behind the ";" of a map there are only groups with a channel.
WrittenSum parse_sum(std::string_view text);
/// The map that a text begins with, alone or in a sum.
std::optional<PriorKind> leading_map(std::string_view text);
/// Whether a text is meant as parts: it begins with the name of one, or has a sign of theirs.
bool looks_like_parts(std::string_view text);

/// The parts in steps, for the columns that there are; those that all columns have alike are parts
/// of all channels. Throws ConfigError for units without dates, for a season that so few steps
/// cannot show, for a column that there is not and, of parts alone, for one without any.
std::vector<Part> parts_in_steps(const std::vector<WrittenPart>& written, const DataAxes& axes,
                                 Alone alone = Alone::Yes);
/// As a user would write them, times to six digits; columns without parts are left out.
std::string parts_text(std::span<const Part> parts, const DataAxes& axes);
/// What the parts of one channel are called: "trend", "season(24 h)". Numbers other than a season's
/// period stand there where two parts would share a name; where that does not tell them apart, the
/// second is "memory2".
std::vector<std::string> part_names(std::span<const Part> own, const DataAxes& axes);
/// A time to two digits, or to whole numbers from 100 on: "19 d" where times are dates, else in the
/// time axis' unit.
std::string rough_time_text(double steps, const DataAxes& axes);

}  // namespace kalmia::prior
