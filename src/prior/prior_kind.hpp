// The priors there are: what each is called, and what the rest of the library asks of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::prior {

enum class PriorKind {
  ConstantPosition,
  MeanReverting,
  ConstantVelocity,
  DampedVelocity,
  ConstantAcceleration,
  Oscillator,
  Ar,
  Sum,
  CoordinatedTurn,
  Lorenz,
  LinearMotion,
  None,
  System,
};

/// Where the equations of a prior come from.
enum class PriorFamily {
  Motion,    ///< for each measured channel (motion_experts.cpp)
  Physical,  ///< equations in the data's own units (physical_experts.cpp)
  Free,      ///< a map that is learned (free_expert.cpp)
  Written,   ///< the user's own (system_expert.cpp)
};

/// One row of the table in prior_kind.cpp.
struct PriorEntry {
  PriorKind kind;
  std::string_view name;     ///< as users write it: ModelOptions::prior
  std::string_view meaning;  ///< for those who choose
  PriorFamily family;
  /// States of a channel, where the prior is a linear system in continuous time: its map then holds
  /// for a step of any length. 0: it is none.
  int flow_states = 0;
  bool automatic = false;  ///< it is tried when the user names none
  /// Standard deviation of the departure from the map, where the user says nothing.
  double usual_departure = 0;
};

/// Whether parts may be added to what the prior's equations say that is measured.
constexpr bool takes_parts(PriorFamily family) {
  return family == PriorFamily::Physical || family == PriorFamily::Written;
}

/// In the order they are listed to users.
std::span<const PriorEntry> prior_table();
const PriorEntry& prior_entry(PriorKind kind);
std::string prior_name(PriorKind kind);
/// Null if no prior has that name.
const PriorEntry* find_prior(std::string_view name);
/// Throws ConfigError for a name that is not in the table.
PriorKind prior_of_name(std::string_view name);

/// Those that fit any data and are tried when the user names none; of so many channels, that have
/// no more than kMostStates states.
std::vector<PriorKind> automatic_priors(std::size_t channels = 1);

}  // namespace kalmia::prior
