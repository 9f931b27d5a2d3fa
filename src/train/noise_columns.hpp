// Measurement noise that the data themselves state, value by value.
#pragma once

#include <vector>

#include "kalmia/data.hpp"
#include "model/model_spec.hpp"

namespace kalmia::train {

/// The noise to fit with: as `spec.noise` says, or, where the data say how noisy each value is,
/// a diagonal R of typical_stds(data) that is given (`auto`) or where learning of a factor starts
/// (`learn`, `learn-full`). Throws ConfigError for options that contradict the data.
model::NoiseSpec noise_of(const Dataset& data, const model::ModelSpec& spec);

/// The median deviation of the measured values of each channel; empty where the data say none.
std::vector<double> typical_stds(const Dataset& data);

}  // namespace kalmia::train
