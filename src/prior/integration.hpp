// How the map of one step is made of equations for derivatives.
#pragma once

#include <string>

namespace kalmia::prior {

/// What System::flow, order and substeps say. Empty and 0 stand for what is usual for the system.
struct Integration {
  std::string flow;
  int order = 0;     ///< of the flows taylor and frozen
  int substeps = 0;  ///< of the flow rk4
};

/// Throws ConfigError unless order and substeps are at least `least` and not beyond what a step can
/// hold. `place` is what stands before their names in the message: "system." or nothing.
void check_ranges(const Integration& integration, const std::string& place, int least);

/// The same for an order alone.
void check_order(int order, const std::string& place, int least);

}  // namespace kalmia::prior
