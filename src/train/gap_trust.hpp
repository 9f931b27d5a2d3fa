// Whether what the networks learned holds in gaps.
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

}  // namespace kalmia::train
