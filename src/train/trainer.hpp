// The second stage of training: the networks, as a residual that starts at zero, by the likelihood
// of the noisy measurements; the best model by held-out likelihood is kept.
#pragma once

#include <functional>
#include <memory>

#include "kalmia/fit.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// What the second stage came to. The summary's fields about it are set.
struct NetworkResult {
  /// The best model; null if none was better than the static one.
  std::unique_ptr<model::LearnedModel<float>> model;
};

/// Updates that suit the amount of data: kPasses over it, within bounds.
int default_updates(std::size_t training_steps, int steps_per_update);

/// Trains networks on top of `start`. `summary.static_held_out` must be set; the rest about the
/// networks is filled in. `progress` may end training.
NetworkResult train_networks(const StaticResult& start, const model::NoiseSpec& noise,
                             const ScaledData& data, const Split& split, const FitOptions& options,
                             ThreadTeam& team, const std::function<bool(FitProgress&)>& progress,
                             FitSummary& summary);

}  // namespace kalmia::train
