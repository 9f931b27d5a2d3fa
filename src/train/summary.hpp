// What a fit says about itself.
#pragma once

#include <string>

#include "kalmia/fit.hpp"

namespace kalmia::train {

/// Why training stopped and what was kept, in a sentence, from the rest of the summary.
std::string message_of(const TrainOptions& options, const FitSummary& summary);

/// What goes into the model file: options and how training went, without what varies from run to
/// run (times, threads).
std::string stored_summary_json(const FitOptions& options, const FitSummary& summary);

}  // namespace kalmia::train
