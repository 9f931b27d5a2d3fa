// What a fit says about itself.
#pragma once

#include <string>

#include "kalmia/fit.hpp"

namespace kalmia::train {

/// Sets the message from the reason.
void describe(const FitOptions& options, FitSummary& summary);

/// What goes into the model file: options and how training went, without what varies from run to
/// run (times, threads).
std::string stored_summary_json(const FitOptions& options, const FitSummary& summary);

}  // namespace kalmia::train
