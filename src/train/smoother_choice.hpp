// Whether a trained smoother is worth having, by held-out measurements.
#pragma once

#include "train/fit_context.hpp"

namespace kalmia::train {

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

}  // namespace kalmia::train
