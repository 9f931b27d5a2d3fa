// What `evaluate` does before and after the model runs.
#pragma once

#include <span>
#include <vector>

#include "kalmia/evaluate.hpp"
#include "study/truth.hpp"

namespace kalmia::study {

/// The data as the filter gets to see them: a share of the measured values hidden. Throws
/// ConfigError naming every option that is out of range.
Dataset shown_data(const Dataset& data, const EvaluateOptions& options);

/// Scores estimates. `data` has everything, `shown` what the estimates were made from; R (M x M) is
/// row-major. One entry per series everywhere. Channels are named as in `data`.
Evaluation score(const Dataset& data, const Dataset& shown, const Truth& truth,
                 const Estimates& filtered, const Estimates& smoothed,
                 const std::vector<Innovations>& innovations, const Measure& measure,
                 std::span<const double> R);

}  // namespace kalmia::study
