// What a trained model is given for its use: how far it trusts its networks in gaps, and the
// process noise of smoothing that iterates.
#pragma once

#include "train/training_data.hpp"

namespace kalmia::train {

/// How far the model is to trust its networks where values are missing: fully (1), or not at all
/// (0): they are shown nothing of them, and the static map leads through gaps. Networks that
/// correct the map predict better through a gap; networks that have learned the noise of the
/// measurements (its drift, its echoes) find none there. The data tell, held-out ones first: values
/// are hidden from them in runs of 8 to 64 steps, and what errs less there, filtered and smoothed,
/// is kept. For models without networks, or of a recurrent filter, the trust that they have.
/// `model` is as it was afterwards; both trusts are tried on it.
double find_gap_trust(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                      ThreadTeam& team);

/// The share of the filter's process noise that makes the data of the stretches likeliest under the
/// model linearised at the smoothed trajectory (infer/refine.hpp): 1, 1/3, 1/9, ..., as long as it
/// helps. 1 if map and emission are linear, so that there is nothing to iterate, and for Student-t
/// noise, whose weights change with the trajectory, so that likelihoods do not compare.
double find_iterated_noise(const model::LearnedModel<float>& model, const ScaledData& data,
                           const std::vector<StepRange>& stretches, ThreadTeam& team);

}  // namespace kalmia::train
