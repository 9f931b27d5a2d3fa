// Noise and paces of a static model, moved to where it is best in use.
#pragma once

#include <functional>

#include "train/static_stage.hpp"
#include "train/use_scores.hpp"

namespace kalmia::train {

/// Multiplies the deviation of the process noise of a state: Q -> D Q D.
void scale_process_noise(int state, double factor, StaticResult& model);

/// The likelihood of the next value weighs one use of a model alone. Where the map is not quite
/// that of the data, the noise that predicts the next value best may lead astray in gaps, or smooth
/// too little. So the logarithms of
///
///   the process noise of each state (of a season: of all its states together) and the learned
///   rates
///
/// are moved one after the other, by steps that become smaller, as long as the mean loss over all
/// uses falls. R stays: what is predicted is y, and most of these losses cannot tell R from the
/// state's variance. It asks for no gradient, and moves few numbers, so that it hardly fits more
/// closely than the likelihood does.
///
/// `go_on`: asked before every score; false ends the search with the best so far. `simpler`: a
/// model that no use may become worse than (worse_use), as long as that can be kept; null: there is
/// none.
StaticResult tuned_for_use(const StaticResult& fitted, const UseData& data,
                           const UseWeights& weights, ThreadTeam& team,
                           const std::function<bool()>& go_on, const TriedModel* simpler = nullptr);

}  // namespace kalmia::train
