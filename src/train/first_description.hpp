// The description that the fit of a model begins with.
#pragma once

#include <string>

#include "model/learned_model.hpp"
#include "train/fit_context.hpp"

namespace kalmia::train {

/// Of a model with the expert map `prior`: all that data and options say before anything is
/// learned. Throws ConfigError for options that contradict the map.
model::ModelDescription first_description(const FitContext& fit, const std::string& prior);

}  // namespace kalmia::train
