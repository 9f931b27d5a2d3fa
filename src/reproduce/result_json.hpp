// A whole result as JSON.
#pragma once

#include "reproduce/rows.hpp"

namespace kalmia::reproduction {

/// Provenance, methods with the paper's numbers, rows, medians and spreads, and what was measured
/// of the theory.
Json result_json(const Reproduction& result);

}  // namespace kalmia::reproduction
