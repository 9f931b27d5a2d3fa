// How much process noise iterated smoothing needs.
#pragma once

#include "train/training_data.hpp"

namespace kalmia::train {

/// The share of the filter's process noise that makes the data of the stretches likeliest under the
/// model linearised at the smoothed trajectory (infer/refine.hpp): 1, 1/3, 1/9, ..., as long as it
/// helps. 1 if map and emission are linear, so that there is nothing to iterate, and for Student-t
/// noise, whose weights change with the trajectory, so that likelihoods do not compare.
double find_iterated_noise(const model::LearnedModel<float>& model, const ScaledData& data,
                           const std::vector<Stretch>& stretches, ThreadTeam& team);

}  // namespace kalmia::train
