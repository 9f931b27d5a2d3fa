#include "model/smoothers.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

using heads::HeadKind;
using heads::PosteriorRule;
using heads::TransitionRule;

constexpr SmootherEntry kSmoothers[] = {
    {.kind = SmootherKind::Fused,
     .name = "fused",
     .meaning = "adds the future to the filter, free of leaks",
     .method = "fused",
     .head = HeadKind::Fusion,
     .transition = TransitionRule::Residual,
     .posterior = PosteriorRule::Predicted,
     .two_sided = false,
     .leaks = false,
     .linear_gaussian = false},
    {.kind = SmootherKind::Recurrent,
     .name = "recurrent",
     .meaning = "the state, directly from both sides",
     .method = "recurrent",
     .head = HeadKind::Direct,
     .transition = TransitionRule::Residual,
     .posterior = PosteriorRule::Predicted,
     .two_sided = true,
     .leaks = false,
     .linear_gaussian = false},
    {.kind = SmootherKind::Recursive,
     .name = "recursive",
     .meaning = "the paper's, which can leak",
     .method = "recursive",
     .head = HeadKind::Recursion,
     .transition = TransitionRule::TowardCentre,
     .posterior = PosteriorRule::Predicted,
     .two_sided = true,
     .leaks = true,
     .linear_gaussian = false},
    {.kind = SmootherKind::RecursiveAlternative,
     .name = "recursive-alternative",
     .meaning = "the same with another posterior",
     .method = "recursive",
     .head = HeadKind::Recursion,
     .transition = TransitionRule::TowardCentre,
     .posterior = PosteriorRule::Alternative,
     .two_sided = true,
     .leaks = true,
     .linear_gaussian = true},
};

}  // namespace

void SmootherEntry::set(heads::ArchitectureOptions& options) const {
  options.head = head;
  options.transition = transition;
  options.posterior = posterior;
  options.two_sided = two_sided;
}

std::span<const SmootherEntry> smoother_table() { return kSmoothers; }

const SmootherEntry& smoother_entry(SmootherKind kind) {
  return *std::ranges::find(kSmoothers, kind, &SmootherEntry::kind);
}

const SmootherEntry* find_smoother(const std::string& name) {
  const auto* found = std::ranges::find(kSmoothers, std::string_view(name), &SmootherEntry::name);
  return found == std::end(kSmoothers) ? nullptr : found;
}

SmootherKind smoother_of_name(const std::string& name) {
  if (const SmootherEntry* entry = find_smoother(name)) return entry->kind;
  throw ConfigError("smoother = \"" + name + "\", but it must be " +
                    name_rule(name, choices_in(smoother_table())));
}

std::string_view smoother_name(SmootherKind kind) { return smoother_entry(kind).name; }

}  // namespace kalmia::model
