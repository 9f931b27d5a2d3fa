// The options of a fit, read once.
#pragma once

#include "kalmia/fit_options.hpp"
#include "model/model_spec.hpp"

namespace kalmia::train {

struct FitSpec {
  model::ModelSpec model;
  TrainOptions train;
};

/// Throws ConfigError that names every violated rule.
FitSpec parse_options(const FitOptions& options);

}  // namespace kalmia::train
