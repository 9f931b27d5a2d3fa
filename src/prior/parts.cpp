#include "prior/parts.hpp"

#include <algorithm>
#include <cmath>

#include "base/option_rules.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "prior/expert.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::prior {
namespace {

constexpr PartEntry kParts[] = {
    {PartKind::Level, "level", "a random walk", 1, PartScale::None},
    {PartKind::Memory, "memory", "returns to zero within its time constant", 1, PartScale::Usual},
    {PartKind::Trend, "trend", "a velocity that wanders", 2, PartScale::None},
    {PartKind::DampedTrend, "damped-trend", "a velocity that fades within its time constant", 2,
     PartScale::Usual},
    {PartKind::DampedVelocity, "damped-velocity", "value and velocity both fade", 2,
     PartScale::None},
    {PartKind::Acceleration, "acceleration", "an acceleration that wanders", 3, PartScale::None},
    {PartKind::DampedAcceleration, "damped-acceleration",
     "a velocity that swings back, as an oscillator does", 3, PartScale::None},
    {PartKind::Oscillator, "oscillator", "a damped oscillation about a period", 2,
     PartScale::Usual},
    {PartKind::Season, "season", "a period whose shape may drift; harmonics after a comma", 0,
     PartScale::Needed},
    {PartKind::Ar, "ar", "an autoregression of so many lags", 0, PartScale::Lags},
};

const PartEntry* find_part(std::string_view name) {
  const auto* found = std::ranges::find(kParts, name, &PartEntry::name);
  return found == std::end(kParts) ? nullptr : found;
}

// Throws ConfigError unless the numbers are those of the part's kind. What a user writes has been
// checked before; a file can hold anything.
void check_numbers(const Part& part) {
  const PartEntry& entry = part_entry(part.kind);
  const bool counted = part.kind == PartKind::Season || part.kind == PartKind::Ar;
  const bool timed = entry.scale == PartScale::Usual || entry.scale == PartScale::Needed;
  const bool left_out = part.scale == 0 && entry.scale != PartScale::Needed;
  if (!(left_out || (timed && part.scale >= kShortestTime && part.scale <= kLongestTime)) ||
      (counted ? part.count < 1 || part.count > kMostPartCount : part.count != 0) ||
      (part.kind == PartKind::Season && part.count > most_harmonics(part.scale)))
    throw ConfigError("prior sum: part " + std::string(entry.name) + " with the time " +
                      kalman::number_text(part.scale) + " (steps) and the count " +
                      std::to_string(part.count) + ", which it cannot have");
}

}  // namespace

std::span<const PartEntry> part_table() { return kParts; }

const PartEntry& part_entry(PartKind kind) {
  return *std::ranges::find(kParts, kind, &PartEntry::kind);
}

PartKind part_of_name(std::string_view name) {
  if (const PartEntry* entry = find_part(name)) return entry->kind;
  throw ConfigError("prior: part \"" + std::string(name) + "\", but it must be " +
                    name_rule(name, choices_in(part_table())));
}

void check_parts(std::span<const Part> parts, const DataAxes& axes, Alone alone) {
  const int channels = static_cast<int>(axes.channels.size());
  for (const Part& part : parts) {
    check_numbers(part);
    if (part.channel < kAllChannels || part.channel >= channels)
      throw ConfigError("prior sum: part " + std::string(part_entry(part.kind).name) +
                        " of channel " + std::to_string(part.channel) + ", but there are " +
                        std::to_string(channels));
  }
  for (int m = 0; m < channels && alone == Alone::Yes; ++m)
    if (std::ranges::none_of(parts, [m](const Part& part) { return part.is_of(m); }))
      throw ConfigError("prior sum: " + axes.channels[static_cast<std::size_t>(m)] +
                        " has no parts");
  const std::size_t states = states_of(parts, channels);
  if (states > kMostStates)
    throw ConfigError("prior: " + parts_text(parts, axes) + " has " + std::to_string(states) +
                      " states in " + std::to_string(channels) + " measured column" +
                      (channels > 1 ? "s" : "") + ", but a sum has at most " +
                      std::to_string(kMostStates) +
                      "; leave out parts, harmonics or lags, or measure fewer columns");
}

int part_states(const Part& part) {
  if (part.kind == PartKind::Season) return 2 * part.count;
  return part.kind == PartKind::Ar ? part.count : part_entry(part.kind).states;
}

std::size_t states_of(std::span<const Part> parts, int channels) {
  std::size_t states = 0;
  for (const Part& part : parts)
    states += static_cast<std::size_t>(part_states(part)) *
              static_cast<std::size_t>(part.channel == kAllChannels ? channels : 1);
  return states;
}

bool parts_alike(std::span<const Part> parts, int channels) {
  const std::vector<Part> first = parts_of_channel(parts, 0);
  for (int m = 1; m < channels; ++m)
    if (!std::ranges::equal(first, parts_of_channel(parts, m), [](Part one, const Part& other) {
          one.channel = other.channel;
          return one == other;
        }))
      return false;
  return true;
}

bool any_step(const Part& part) { return part.kind != PartKind::Ar; }

bool carries_level(const Part& part) {
  return part.kind == PartKind::Level || part.kind == PartKind::Trend ||
         part.kind == PartKind::DampedTrend || part.kind == PartKind::Acceleration ||
         part.kind == PartKind::DampedAcceleration;
}

// A pair of states needs a period of more than two steps.
int most_harmonics(double period) {
  return static_cast<int>(std::clamp(std::ceil(period / 2) - 1, 0.0, double{kMostPartCount}));
}

std::vector<Part> parts_of_channel(std::span<const Part> parts, int channel) {
  std::vector<Part> own;
  for (const Part& part : parts)
    if (part.is_of(channel)) own.push_back(part);
  return own;
}

std::vector<std::string> part_labels(std::span<const Part> parts) {
  std::vector<std::string> labels;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string name(part_entry(parts[p].kind).name);
    const auto taken = [&](const std::string& label) {
      for (std::size_t q = 0; q < p; ++q)
        if (labels[q] == label &&
            (parts[q].is_of(parts[p].channel) || parts[p].channel == kAllChannels))
          return true;
      return false;
    };
    std::string label = name;
    for (int number = 2; taken(label); ++number) label = name + std::to_string(number);
    labels.push_back(label);
  }
  return labels;
}

}  // namespace kalmia::prior
