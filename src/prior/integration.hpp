// How the map of one step is made of equations for derivatives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kalmia/system.hpp"

namespace kalmia::prior {

/// From the derivatives to the map: as IntegrationOptions::flow says.
enum class FlowKind { Frozen, Taylor, Rk4 };

/// One row of the table in integration.cpp.
struct FlowEntry {
  FlowKind flow;
  std::string_view name;     ///< as users write it: IntegrationOptions::flow
  std::string_view meaning;  ///< for those who choose
};

std::span<const FlowEntry> flow_table();
std::string_view flow_name(FlowKind flow);
/// Null if no flow has that name.
const FlowEntry* find_flow(std::string_view name);

/// What IntegrationOptions says, read. None and 0 stand for what is usual for the equations.
struct Integration {
  std::optional<FlowKind> flow;
  int order = 0;     ///< of the flows taylor and frozen
  int substeps = 0;  ///< of the flow rk4
};

/// The flow of that name; none for an empty text. Throws ConfigError for a name there is not, and
/// for frozen unless the equations have a `matrix`. `place` is what stands before the name in the
/// message: "system." or nothing.
std::optional<FlowKind> flow_of_name(const std::string& name, const std::string& place,
                                     bool matrix);

/// What is usual for derivatives that a matrix gives, or equations.
constexpr FlowKind usual_flow(bool matrix) { return matrix ? FlowKind::Frozen : FlowKind::Rk4; }

/// Throws ConfigError unless order and substeps are at least `least` and not beyond what a step can
/// hold. `place` as above.
void check_ranges(const Integration& integration, const std::string& place, int least);

/// The same for an order alone.
void check_order(int order, const std::string& place, int least);

}  // namespace kalmia::prior
