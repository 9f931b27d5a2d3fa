// The second stage of training: the networks, as a residual that starts at zero, by the likelihood
// of the noisy measurements; the best model by held-out likelihood is kept.
#pragma once

#include <functional>
#include <memory>

#include "kalmia/fit.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"
#include "train/training_loop.hpp"

namespace kalmia::train {

/// Trains networks on top of `start`. `summary.static_held_out` must be set; the rest about the
/// networks is filled in. `progress` may end training. Returns the best model; null if none was
/// better than the static one.
std::unique_ptr<model::LearnedModel<float>> train_networks(
    const StaticResult& start, const model::NoiseSpec& noise, const ScaledData& data,
    const Split& split, const FitOptions& options, ThreadTeam& team,
    const std::function<bool(FitProgress&)>& progress, FitSummary& summary);

}  // namespace kalmia::train
