// An expert map as the function that classical filters take.
#pragma once

#include <string>
#include <vector>

#include "kalmia/classical.hpp"
#include "prior/expert.hpp"

namespace kalmia::reproduction {

/// f(x) = F(x) x + e(x) over steps of length `dt`, with the expert's parameters as they start, and
/// F in place of its derivative (which it is of a flow, and is not of the paper's frozen matrix).
/// Calls are thread-safe.
NonlinearModel::Function expert_function(const prior::ExpertSpec& spec,
                                         const std::vector<std::string>& channels, double dt);

}  // namespace kalmia::reproduction
