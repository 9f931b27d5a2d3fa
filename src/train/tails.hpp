// The degrees of freedom of Student-t measurement noise, from a model's innovations.
#pragma once

#include "train/training_data.hpp"

namespace kalmia::train {

/// The degrees of freedom that make the innovations of the stretches likeliest, each over its
/// standard deviation, with a scale that is fitted as well.
double fit_tails(const model::LearnedModel<float>& model, const ScaledData& data,
                 const std::vector<StepRange>& stretches, ThreadTeam& team);

}  // namespace kalmia::train
