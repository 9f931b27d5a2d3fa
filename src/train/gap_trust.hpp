// Whether what the networks learned holds in gaps.
#pragma once

#include "train/training_data.hpp"

namespace kalmia::train {

/// Sets how far the model trusts its networks where values are missing: fully, or not at all: they
/// are shown nothing of them, and the static map leads through gaps. Networks that correct the map
/// predict better through a gap; networks that have learned the noise of the measurements (its
/// drift, its echoes) find none there. The data tell, held-out ones first: values are hidden from
/// them in runs of 8 to 64 steps, and what errs less there, filtered and smoothed, is kept.
/// Models without networks, or of a recurrent filter, stay as they are.
void choose_gap_trust(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                      ThreadTeam& team);

}  // namespace kalmia::train
