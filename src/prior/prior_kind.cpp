#include "prior/prior_kind.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "prior/expert.hpp"

namespace kalmia::prior {
namespace {

using enum PriorKind;
using enum PriorFamily;

constexpr PriorEntry kTable[] = {
    {.kind = ConstantPosition,
     .name = "constant-position",
     .meaning = "a random walk",
     .family = Motion,
     .flow_states = 1,
     .automatic = true},
    {.kind = MeanReverting,
     .name = "mean-reverting",
     .meaning = "with learned damping",
     .family = Motion,
     .flow_states = 1,
     .automatic = true},
    {.kind = ConstantVelocity,
     .name = "constant-velocity",
     .meaning = "",
     .family = Motion,
     .flow_states = 2,
     .automatic = true},
    {.kind = DampedVelocity,
     .name = "damped-velocity",
     .meaning = "with learned damping",
     .family = Motion,
     .flow_states = 2,
     .automatic = true},
    {.kind = ConstantAcceleration,
     .name = "constant-acceleration",
     .meaning = "",
     .family = Motion,
     .flow_states = 3},
    {.kind = Oscillator,
     .name = "oscillator",
     .meaning = "with learned frequency and damping",
     .family = Motion,
     .flow_states = 2},
    {.kind = Ar, .name = "ar", .meaning = "autoregressive", .family = Motion},
    {.kind = CoordinatedTurn,
     .name = "coordinated-turn",
     .meaning = "two channels",
     .family = Physical},
    {.kind = Lorenz, .name = "lorenz", .meaning = "three channels", .family = Physical},
    {.kind = LinearMotion,
     .name = "linear-motion",
     .meaning = "two channels",
     .family = Physical,
     .usual_departure = 0.01},
    {.kind = PriorKind::None,
     .name = "none",
     .meaning = "a map that is learned",
     .family = Free,
     .usual_departure = 1},
    {.kind = PriorKind::System,
     .name = "system",
     .meaning = "your own equations",
     .family = Written},
};

}  // namespace

std::span<const PriorEntry> prior_table() { return kTable; }

const PriorEntry& prior_entry(PriorKind kind) {
  return *std::ranges::find(kTable, kind, &PriorEntry::kind);
}

std::string prior_name(PriorKind kind) { return std::string(prior_entry(kind).name); }

const PriorEntry* find_prior(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &PriorEntry::name);
  return found == std::end(kTable) ? nullptr : found;
}

PriorKind prior_of_name(std::string_view name) {
  if (const PriorEntry* entry = find_prior(name)) return entry->kind;
  throw ConfigError("prior = \"" + std::string(name) + "\", but it must be " +
                    name_rule(name, choices_in(prior_table())));
}

std::vector<PriorKind> automatic_priors(std::size_t channels) {
  std::vector<PriorKind> priors;
  for (const PriorEntry& each : kTable)
    if (each.automatic && static_cast<std::size_t>(each.flow_states) * channels <= kMostStates)
      priors.push_back(each.kind);
  return priors;
}

}  // namespace kalmia::prior
