// What a fit knows before it learns: the measurement noise as options and data give it, and the
// description of a model that nothing has been learned of.
#pragma once

#include <vector>

#include "kalmia/data.hpp"
#include "model/learned_model.hpp"
#include "model/model_spec.hpp"
#include "train/fit_context.hpp"

namespace kalmia::train {

/// The noise to fit with: as `spec.noise` says, or, where the data say how noisy each value is,
/// a diagonal R of typical_stds(data) that is given (`auto`) or where learning of a factor starts
/// (`learn`, `learn-full`). Throws ConfigError for options that contradict the data.
model::NoiseSpec noise_of(const Dataset& data, const model::ModelSpec& spec);

/// The median deviation of the measured values of each channel; empty where the data say none.
std::vector<double> typical_stds(const Dataset& data);

/// The measured columns and the length of a usual step, as parts need them.
prior::DataAxes step_length(const FitContext& fit);

/// Of a model with the expert map `prior`: all that data and options say before anything is
/// learned. Throws ConfigError for options that contradict the map.
model::ModelDescription first_description(const FitContext& fit, const prior::ExpertSpec& prior);

/// How the columns of later data are to be read.
DataOptions columns_of(const FitContext& fit);

}  // namespace kalmia::train
