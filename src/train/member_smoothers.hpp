// The smoothers of a fit's members: each is trained on top of the finished filter, by the
// likelihood of each measurement given all others, and kept where it is worth having.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/members.hpp"

namespace kalmia::train {

/// Trains the smoother that the options ask for, and gives it to `model` if it predicts held-out
/// measurements better than the filter, whose loss of them is `filter_held_out`. `kept` of what is
/// returned says whether it does.
FitSmootherSummary train_smoother(const TrainingContext& context, model::LearnedModel<float>& model,
                                  double filter_held_out);

/// If a trained smoother was kept so far, measures its leak (infer/leak.hpp) and estimates its
/// error and that of the linearized smoother over the same filter (infer/risk.hpp). Where the
/// linearized one is as good, the trained one is taken away from the model, unless
/// spec.model.keep_smoother. Returns what was said of it, `trained`, with all of this.
/// Likelihoods cannot tell: a trained smoother is scored by what it predicts from all other
/// measurements, and linearized smoothing makes no such prediction. Measured on `lorenz` (the
/// paper's map, fused smoother, over the noise's variance; estimated / true): of 8,192 steps 0.096
/// / 0.090 against 0.074 / 0.069, of 32,768 0.063 / 0.056 against 0.067 / 0.059.
FitSmootherSummary choose_smoother(const TrainingContext& context,
                                   model::LearnedModel<float>& model, FitSmootherSummary trained);

struct TrainedSmoothers {
  std::optional<FitSmootherSummary> best;  ///< nothing if none could be trained
  std::vector<int> kept_by;                ///< indices of the members whose smoother was kept
  std::vector<std::string> notes;
};

/// Trains the smoother that the options ask for on top of each member, and gives it to the members
/// for which it is worth having. A smoother that breaks down (NumericalError) is left out, and a
/// note says so; the members themselves stay. A user may end training.
TrainedSmoothers train_smoothers(const TrainingContext& context, std::span<const Member> members);

}  // namespace kalmia::train
