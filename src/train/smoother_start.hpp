// Where the networks of recurrent filters and of two-sided smoothers start from.
#pragma once

#include <cstdint>
#include <vector>

#include "model/learned_model.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// Standard deviations of the states about a recurrent model's centre, from data: of a measured
/// state that of y[k] about the line between its neighbours (two-sided) or about y[k-1], without
/// the noise R (M x M). States that no channel measures have none: 0.
std::vector<double> deviations_from_centre(const model::FeatureSpec& features,
                                           const std::vector<double>& R, const ScaledData& data,
                                           const std::vector<StepRange>& training, bool two_sided);

/// Starts the decoder's L at these standard deviations; a state that has none is as uncertain as
/// before the first measurement.
void put_deviations(const heads::Architecture& architecture, const std::vector<double>& deviations,
                    float* parameters);

/// The networks of a two-sided smoother for a finished filter.
///
/// Recursive: the filter's, as far as they fit, and a backward encoder that does not count yet.
/// Recurrent, or for a recurrent filter: its encoder, if it fits, and the centre with the
/// deviations from it.
std::vector<float> starting_networks(const model::LearnedModel<float>& filter,
                                     const model::SmootherSizes& sizes, const ScaledData& data,
                                     const Split& split, std::uint64_t seed);

}  // namespace kalmia::train
