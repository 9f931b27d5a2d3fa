// What is said of a model before anything is learned.
#pragma once

#include "model/learned_model.hpp"
#include "train/fit_context.hpp"

namespace kalmia::train {

/// Of a model with the expert map `prior`: all that data and options say before anything is
/// learned. Throws ConfigError for options that contradict the map.
model::ModelDescription first_description(const FitContext& fit, prior::PriorKind prior);

/// How the columns of later data are to be read.
DataOptions columns_of(const FitContext& fit);

}  // namespace kalmia::train
