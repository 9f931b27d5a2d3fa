// The pieces that a static model is fitted to, side by side.
#pragma once

#include <vector>

#include "train/training_data.hpp"

namespace kalmia::train {

/// Time steps of all stretches.
int steps_of(const std::vector<StepRange>& stretches);

/// Every so many of the segments that there are at most about `steps` steps in them.
std::vector<StepRange> thinned(const std::vector<StepRange>& segments, int steps);

/// The stretches in pieces of `length` steps at most.
std::vector<StepRange> cut_up(const std::vector<StepRange>& stretches, int length);

/// Some 2,000 steps in short pieces, which run side by side: enough to see about where a search
/// goes.
std::vector<StepRange> small_part(const std::vector<StepRange>& training);

/// The stretches in segments that are long enough that how they start hardly counts, and longer
/// than some of a season's periods (0: there is none); about `most_steps` in all.
std::vector<StepRange> segments_of(const std::vector<StepRange>& training, double period,
                                   int most_steps);

}  // namespace kalmia::train
