// The rules that the numbers of a model obey, whoever wrote its file.
#pragma once

#include <cstddef>

#include "model/ensemble.hpp"

namespace kalmia::model {

/// Scales are between 1 / kLargestScale and kLargestScale, offsets within +-kLargestScale: products
/// of two are finite, and so are squares.
inline constexpr double kLargestScale = 1e150;

/// What can be said of a description before its expert is made. Throws ConfigError that names the
/// field, the value and the rule.
void check_description(const ModelDescription& description);

/// The rest: sizes by the number of states, parameters within their bounds, the climate.
void check_description(const ModelDescription& description, const prior::Expert& expert);

/// Throws ConfigError unless there are as many numbers of `what` as are needed.
void require_size(const char* what, std::size_t found, std::size_t needed);

/// What is said of the members as a whole.
void check_ensemble(const Ensemble& ensemble);

}  // namespace kalmia::model
