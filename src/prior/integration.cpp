#include "prior/integration.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "kalmia/fit_options.hpp"

namespace kalmia::prior {
namespace {

constexpr FlowEntry kFlows[] = {
    {FlowKind::Frozen, "frozen", "a matrix frozen at the state, the paper's"},
    {FlowKind::Taylor, "taylor", "the flow's Taylor series"},
    {FlowKind::Rk4, "rk4", "Runge-Kutta steps"},
};

void check_range(const std::string& name, int value, int least, Range range) {
  range.least = least;
  if (!range.holds(value))
    throw ConfigError(name + " = " + std::to_string(value) + ", but it must be " + range.text());
}

}  // namespace

std::span<const FlowEntry> flow_table() { return kFlows; }

std::string_view flow_name(FlowKind flow) {
  return std::ranges::find(kFlows, flow, &FlowEntry::flow)->name;
}

const FlowEntry* find_flow(std::string_view name) {
  const auto* found = std::ranges::find(kFlows, name, &FlowEntry::name);
  return found == std::end(kFlows) ? nullptr : found;
}

std::optional<FlowKind> flow_of_name(const std::string& name, const std::string& place,
                                     bool matrix) {
  if (name.empty()) return std::nullopt;
  std::vector<Choice> allowed;
  for (const FlowEntry& each : kFlows)
    if (matrix || each.flow != FlowKind::Frozen) allowed.push_back({each.name, each.meaning});
  const FlowEntry* found = find_flow(name);
  if (found != nullptr && (matrix || found->flow != FlowKind::Frozen)) return found->flow;
  throw ConfigError(place + "flow = \"" + name + "\", but it must be " + name_rule(name, allowed) +
                    (found != nullptr ? "; frozen is for a matrix" : ""));
}

void check_ranges(const Integration& integration, const std::string& place, int least) {
  check_order(integration.order, place, least);
  check_range(place + "substeps", integration.substeps, least, range_of<ModelOptions>("substeps"));
}

void check_order(int order, const std::string& place, int least) {
  check_range(place + "order", order, least, range_of<ModelOptions>("order"));
}

}  // namespace kalmia::prior
