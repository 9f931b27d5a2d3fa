// Parts that add up to a channel's value, and how users write them: "trend + season(24 h, 4)".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::prior {

enum class PartKind {
  Level,
  Memory,
  Trend,
  DampedTrend,
  DampedVelocity,
  Acceleration,
  Oscillator,
  Season,
  Ar,
};

/// What the number in a part's brackets is.
enum class PartScale {
  None,    ///< there is none
  Usual,   ///< a time, which may be left out: learning starts there
  Needed,  ///< a time that must be given
  Lags,    ///< a count: how many values the part remembers
};

/// One row of the table in parts.cpp.
struct PartEntry {
  PartKind kind;
  std::string_view name;     ///< as users write it
  std::string_view meaning;  ///< for those who choose
  int states = 0;            ///< of a channel; 0: the part's count decides
  PartScale scale = PartScale::None;
};

std::span<const PartEntry> part_table();
const PartEntry& part_entry(PartKind kind);

/// Throws ConfigError for a name that is not in the table.
PartKind part_of_name(std::string_view name);

/// Of a part that every channel has.
inline constexpr int kAllChannels = -1;

struct Part {
  PartKind kind = PartKind::Level;
  /// A time constant (memory, damped-trend) or a period (oscillator, season), in steps of usual
  /// length; 0: the usual start.
  double scale = 0;
  int count = 0;               ///< harmonics of a season, lags of an autoregression; 0 for others
  int channel = kAllChannels;  ///< the measured column that it is a part of

  bool operator==(const Part&) const = default;
};

/// Throws ConfigError unless there are parts whose numbers make sense.
void check_parts(std::span<const Part> parts);
/// States that the part has in each channel.
int part_states(const Part& part);
/// Whether the part's map holds for a step of any length.
bool any_step(const Part& part);
/// A name for each part that no other has: "trend", "season", "season2".
std::vector<std::string> part_labels(std::span<const Part> parts);

/// A part as a user wrote it, before the length of a step is known.
struct WrittenPart {
  Part part;         ///< its scale is `number`'s, in the time axis' unit or, with `unit`, that of it
  std::string unit;  ///< "s", "min", "h", "d" or "w"; empty: none was written
};

/// Reads "trend + season(24 h, 4)". Throws ConfigError that names the part and its rule.
std::vector<WrittenPart> parse_parts(std::string_view text);
/// Whether a text is meant as parts: it begins with the name of one.
bool looks_like_parts(std::string_view text);

/// The unit of a part's times.
struct StepLength {
  double length = 1;   ///< of a usual step, in the time axis' unit
  bool dates = false;  ///< the unit is the second, and units may be written
};

/// Throws ConfigError for units without dates, and for a season that so few steps cannot show.
std::vector<Part> parts_in_steps(const std::vector<WrittenPart>& written, const StepLength& step);
/// As a user would write them.
std::string parts_text(std::span<const Part> parts, const StepLength& step = {});

}  // namespace kalmia::prior
