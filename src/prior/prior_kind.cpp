#include "prior/prior_kind.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "prior/expert.hpp"

namespace kalmia::prior {
namespace {

constexpr PriorEntry kPriors[] = {
    {.kind = PriorKind::ConstantPosition,
     .name = "constant-position",
     .meaning = "a random walk",
     .family = PriorFamily::Motion,
     .flow_states = 1,
     .automatic = true},
    {.kind = PriorKind::MeanReverting,
     .name = "mean-reverting",
     .meaning = "with learned damping",
     .family = PriorFamily::Motion,
     .flow_states = 1,
     .automatic = true},
    {.kind = PriorKind::ConstantVelocity,
     .name = "constant-velocity",
     .meaning = "",
     .family = PriorFamily::Motion,
     .flow_states = 2,
     .automatic = true},
    {.kind = PriorKind::DampedVelocity,
     .name = "damped-velocity",
     .meaning = "with learned damping",
     .family = PriorFamily::Motion,
     .flow_states = 2,
     .automatic = true},
    {.kind = PriorKind::ConstantAcceleration,
     .name = "constant-acceleration",
     .meaning = "",
     .family = PriorFamily::Motion,
     .flow_states = 3},
    {.kind = PriorKind::Oscillator,
     .name = "oscillator",
     .meaning = "with learned frequency and damping",
     .family = PriorFamily::Motion,
     .flow_states = 2},
    {.kind = PriorKind::Ar,
     .name = "ar",
     .meaning = "autoregressive",
     .family = PriorFamily::Motion},
    {.kind = PriorKind::Sum, .name = "sum", .meaning = "of parts", .family = PriorFamily::Motion},
    {.kind = PriorKind::CoordinatedTurn,
     .name = "coordinated-turn",
     .meaning = "two channels",
     .family = PriorFamily::Physical},
    {.kind = PriorKind::Lorenz,
     .name = "lorenz",
     .meaning = "three channels",
     .family = PriorFamily::Physical},
    {.kind = PriorKind::LinearMotion,
     .name = "linear-motion",
     .meaning = "two channels",
     .family = PriorFamily::Physical,
     .usual_departure = 0.01},
    {.kind = PriorKind::None,
     .name = "none",
     .meaning = "a map that is learned",
     .family = PriorFamily::Free,
     .usual_departure = 1},
    {.kind = PriorKind::System,
     .name = "system",
     .meaning = "your own equations",
     .family = PriorFamily::Written},
};

}  // namespace

std::span<const PriorEntry> prior_table() { return kPriors; }

const PriorEntry& prior_entry(PriorKind kind) {
  return *std::ranges::find(kPriors, kind, &PriorEntry::kind);
}

std::string prior_name(PriorKind kind) { return std::string(prior_entry(kind).name); }

const PriorEntry* find_prior(std::string_view name) {
  const auto* found = std::ranges::find(kPriors, name, &PriorEntry::name);
  return found == std::end(kPriors) ? nullptr : found;
}

PriorKind prior_of_name(std::string_view name) {
  if (const PriorEntry* entry = find_prior(name)) return entry->kind;
  throw ConfigError("prior = \"" + std::string(name) + "\", but it must be " +
                    name_rule(name, choices_in(prior_table())));
}

std::vector<PriorKind> automatic_priors(std::size_t channels) {
  std::vector<PriorKind> priors;
  for (const PriorEntry& each : kPriors)
    if (each.automatic && static_cast<std::size_t>(each.flow_states) * channels <= kMostStates)
      priors.push_back(each.kind);
  return priors;
}

}  // namespace kalmia::prior
