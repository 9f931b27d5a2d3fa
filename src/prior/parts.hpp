// Parts that add up to a channel's value.
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
  DampedAcceleration,
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

/// Harmonics or lags of a part, at most.
inline constexpr int kMostPartCount = 128;
/// Of a part that every channel has.
inline constexpr int kAllChannels = -1;

struct Part {
  PartKind kind = PartKind::Level;
  /// A time constant (memory, damped-trend) or a period (oscillator, season), in steps of usual
  /// length; 0: the usual start.
  double scale = 0;
  int count = 0;               ///< harmonics of a season, lags of an autoregression; 0 for others
  int channel = kAllChannels;  ///< the measured column that it is a part of

  bool is_of(int measured) const { return channel == kAllChannels || channel == measured; }
  bool operator==(const Part&) const = default;
};

/// The measured columns and the time axis of the data that parts are of.
struct DataAxes {
  std::vector<std::string> channels;
  double step = 1;     ///< length of a usual step, in the time axis' unit
  bool dates = false;  ///< that unit is the second, and others may be written
};

/// Times of parts are between these, in steps.
inline constexpr double kShortestTime = 1e-6, kLongestTime = 1e9;

/// Whether parts are all that a channel is the sum of; else equations are added to them, and a
/// channel may have none.
enum class Alone { Yes, No };

/// Throws ConfigError unless each channel has parts whose numbers make sense, and the sum has no
/// more than kMostStates states.
void check_parts(std::span<const Part> parts, const DataAxes& axes, Alone alone = Alone::Yes);
/// States that the part has in each of its channels.
int part_states(const Part& part);
/// States of all parts in so many channels.
std::size_t states_of(std::span<const Part> parts, int channels);
/// Whether all of so many channels have the same parts.
bool parts_alike(std::span<const Part> parts, int channels);
/// Whether the part's map holds for a step of any length.
bool any_step(const Part& part);
/// Whether nothing pulls the part's value back: it carries the level of its channel.
bool carries_level(const Part& part);
/// The harmonics that a period of so many steps can show, 0 where it shows no season.
int most_harmonics(double period);
/// Those of one channel, in their order.
std::vector<Part> parts_of_channel(std::span<const Part> parts, int channel);
/// A name for each part that no other of its channels has: "trend", "season", "season2". Parts of
/// different channels may share one.
std::vector<std::string> part_labels(std::span<const Part> parts);

}  // namespace kalmia::prior
