// The degrees of freedom of Student-t measurement noise, from a model's innovations.
#pragma once

#include <string>

#include "train/training_data.hpp"

namespace kalmia::train {

/// Reads a number >= 1. Throws ConfigError.
double parse_tails(const std::string& text);

/// The degrees of freedom that make the innovations of the stretches likeliest, each over its
/// standard deviation, with a scale that is fitted as well.
double fit_tails(const model::LearnedModel<float>& model, const ScaledData& data,
                 const std::vector<Stretch>& stretches, ThreadTeam& team);

}  // namespace kalmia::train
