// How the states of the training data are spread and follow each other: what predictions through
// long gaps tend to.
#pragma once

#include <vector>

#include "base/threads.hpp"
#include "model/learned_model.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// From the states that the model smooths the training data to, with D the covariances of their
/// errors: of the states that stay where they are
///
///   C = cov x[k|all] + mean D[k],   A = cov(x[k|all], x[k-1|all]) C^-1,   Q = C - A C A'.
///
/// Empty where smoothing breaks down, or no state stays where it is.
model::StateClimate find_climate(const model::LearnedModel<float>& model, const ScaledData& data,
                                 const std::vector<StepRange>& training, ThreadTeam& team);

}  // namespace kalmia::train
