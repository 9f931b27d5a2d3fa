// Whether a trained smoother is worth having, by held-out measurements.
#pragma once

#include "kalmia/fit.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// If `summary` says that the model has a trained smoother, measures its leak (infer/leak.hpp) and
/// estimates its error and that of the linearized smoother over the same filter (infer/risk.hpp).
/// Where the linearized one is as good, the trained one is taken away, unless `keep`. Likelihoods
/// cannot tell: a trained smoother is scored by what it predicts from all other measurements, and
/// linearized smoothing makes no such prediction. Measured on `lorenz` (the paper's map, fused
/// smoother, over the noise's variance; estimated / true): of 8,192 steps 0.096 / 0.090 against
/// 0.074 / 0.069, of 32,768 0.063 / 0.056 against 0.067 / 0.059.
void choose_smoother(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                     bool keep, ThreadTeam& team, FitSummary& summary);

}  // namespace kalmia::train
