// What `evaluate` does before and after the model runs.
#pragma once

#include <span>
#include <vector>

#include "kalmia/evaluate.hpp"

namespace kalmia::study {

/// What the columns of the truth are.
enum class TruthKind {
  None,
  Channels,  ///< the measured channels
  States,    ///< all states
};

/// By their number, as `kalmia::evaluate` says. Throws DataError for a number that is neither.
TruthKind truth_kind(const Dataset& data, std::size_t state_dim, std::size_t meas_dim);

/// The same data with the columns of truth that belong to the model, in its order: those of all
/// states if each has one named `true_<state>`, else those of the channels if each has one, else
/// all as they are.
Dataset with_matching_truth(const Dataset& data, const std::vector<std::string>& state_names,
                            const std::vector<std::string>& channel_names);

/// The data as the filter gets to see them: a share of the measured values hidden. Throws
/// ConfigError naming every option that is out of range.
Dataset shown_data(const Dataset& data, const EvaluateOptions& options);

/// Scores estimates. `data` has everything, `shown` what the estimates were made from; H (M x N)
/// and R (M x M) are row-major. One entry per series everywhere.
Evaluation score(const Dataset& data, const Dataset& shown, const Estimates& filtered,
                 const Estimates& smoothed, const std::vector<Innovations>& innovations,
                 std::span<const double> H, std::span<const double> R);

}  // namespace kalmia::study
