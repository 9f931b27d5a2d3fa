// The last stage of training, if it is asked for: a smoother on top of the finished filter, by the
// likelihood of each measurement given all others.
#pragma once

#include "train/fit_context.hpp"

namespace kalmia::train {

/// Trains the smoother that the options ask for, and gives it to `model` if it predicts held-out
/// measurements better than the filter, whose loss of them is `filter_held_out`. `kept` of what is
/// returned says whether it does.
FitSmootherSummary train_smoother(const TrainingContext& context, model::LearnedModel<float>& model,
                                  double filter_held_out);

}  // namespace kalmia::train
