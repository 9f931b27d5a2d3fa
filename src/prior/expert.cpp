#include "prior/expert.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "kalmia/fit_options.hpp"
#include "prior/expert_draft.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::prior {
namespace {

void require_in_range(const std::string& name, double value, const Range& range) {
  if (!range.holds(value))
    throw ConfigError(name + " = " + kalman::number_text(value) + ", but it must be " +
                      range.text());
}

void require_at_most(const std::string& prior, std::size_t count, const char* what) {
  if (count > kMostStates)
    throw ConfigError("prior " + prior + ": " + std::to_string(count) + " " + what +
                      ", but a model has at most " + std::to_string(kMostStates) +
                      "; measure fewer columns, or take a prior of fewer states");
}

}  // namespace

void require_states(const std::string& prior, std::size_t count) {
  require_at_most(prior, count, "states");
}

std::vector<double> Expert::theta() const {
  std::vector<double> values;
  for (const ExpertParameter& parameter : parameters) values.push_back(parameter.value);
  return values;
}

bool adds_parts(const ExpertSpec& spec) {
  return !spec.parts.empty() && takes_parts(prior_entry(spec.kind).family);
}

bool any_step(const ExpertSpec& spec) {
  if (spec.kind != PriorKind::Sum) return prior_entry(spec.kind).flow_states > 0;
  return std::ranges::all_of(spec.parts, [](const Part& part) { return any_step(part); });
}

std::string prior_text(const ExpertSpec& spec, const DataAxes& axes) {
  if (spec.kind == PriorKind::Sum) return parts_text(spec.parts, axes);
  const std::string name = prior_name(spec.kind), parts = parts_text(spec.parts, axes);
  if (parts.empty()) return name;
  return name + (parts_alike(spec.parts, static_cast<int>(axes.channels.size())) ? " + " : "; ") +
         parts;
}

Expert make_expert(const ExpertSpec& spec, const std::vector<std::string>& channels,
                   const std::vector<std::string>& inputs) {
  check_ranges(spec.integration, "", 0);
  check_order(spec.lags, "", 0);  // users call the number of lags the order
  require_in_range("degree", spec.degree, range_of<ModelOptions>("departure_degree"));
  require_in_range("departure", spec.departure, {.least = 0});
  require_in_range("latent", spec.latent, range_of<ModelOptions>("latent"));
  const PriorEntry& entry = prior_entry(spec.kind);
  const DataAxes axes{.channels = channels};
  const std::string name = prior_text(spec, axes);
  if (spec.latent > 0 && spec.kind != PriorKind::None)
    throw ConfigError("latent = " + std::to_string(spec.latent) + ", but prior = \"" + name +
                      "\" has states of its own; latent states are for none");
  require_at_most(name, channels.size(), "measured columns");
  const bool added = adds_parts(spec);
  if (!spec.parts.empty() && !added && spec.kind != PriorKind::Sum)
    throw ConfigError("prior " + name + ": it has no equations that parts can be added to");
  if (added) require_in_range("dt", spec.dt, {.least = 0, .end = Range::Least::Excluded});
  if (added || spec.kind == PriorKind::Sum)
    check_parts(spec.parts, axes, added ? Alone::No : Alone::Yes);
  const int more =
      added ? static_cast<int>(states_of(spec.parts, static_cast<int>(channels.size()))) : 0;
  const auto draft = [&] {
    switch (entry.family) {
      case PriorFamily::Free:
        return draft_free(channels, spec.latent);
      case PriorFamily::Written:
        return draft_system(spec.system, channels, inputs, more);
      case PriorFamily::Physical:
        return draft_physical(spec, channels, more);
      case PriorFamily::Motion:
        break;
    }
    return draft_sum(motion_parts(spec), name, channels);
  };
  ExpertDraft made = draft();
  require_states(name, static_cast<std::size_t>(made.symbols.states + made.symbols.added));
  return finish(made, spec, channels);
}

}  // namespace kalmia::prior
