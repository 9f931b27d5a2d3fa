// How large each state is, guessed from the measurements, before anything is learned.
#pragma once

#include <vector>

#include "model/channels.hpp"
#include "model/learned_model.hpp"

namespace kalmia::model {

/// A state before the first measurement, nearly diffuse, and the deviation of what a step adds to
/// it, to begin with; in the model's units.
struct StateSize {
  double mean = 0, width = 1, step = 1;
};

StateSize state_size(const prior::Expert& expert, int state, const ModelDescription& description,
                     const std::vector<ChannelStatistics>& channels);

/// Where the states usually are: what a polynomial departure is written in. `correlation`: of the
/// channels (M x M); that of states which no channel shows, or whose channel wanders, counts as
/// none.
prior::StateFrame state_frame(const prior::Expert& expert, const ModelDescription& description,
                              const std::vector<ChannelStatistics>& channels,
                              const std::vector<double>& correlation);

}  // namespace kalmia::model
