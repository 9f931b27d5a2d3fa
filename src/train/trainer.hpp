// The second stage of training: the networks, as a residual that starts at zero, by the likelihood
// of the noisy measurements; the best model by held-out likelihood is kept.
#pragma once

#include <memory>

#include "train/fit_context.hpp"
#include "train/static_stage.hpp"
#include "train/training_loop.hpp"

namespace kalmia::train {

struct TrainedNetworks {
  std::unique_ptr<model::LearnedModel<float>> model;  ///< the best; null: the static one is better
  FitNetworksSummary summary;
};

/// Trains networks on top of `start`, whose held-out loss is `static_held_out`. A user may end
/// training.
TrainedNetworks train_networks(const TrainingContext& context, const StaticResult& start,
                               const model::NoiseSpec& noise, double static_held_out);

}  // namespace kalmia::train
