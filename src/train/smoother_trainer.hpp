// The last stage of training, if it is asked for: a smoother on top of the finished filter, by the
// likelihood of each measurement given all others.
#pragma once

#include <functional>

#include "kalmia/fit.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// Trains the smoother that `options` ask for, and gives it to `model` if it predicts held-out
/// measurements better than the filter. Fills in what the summary says about it.
void train_smoother(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                    const FitOptions& options, ThreadTeam& team,
                    const std::function<bool(FitProgress&)>& progress, FitSummary& summary);

}  // namespace kalmia::train
