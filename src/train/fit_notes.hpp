// What the user of a fit should know about data, options and the static model.
#pragma once

#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/prior_choice.hpp"

namespace kalmia::train {

using Notes = std::vector<std::string>;

/// Rows that were not used, and time steps that differ.
Notes data_notes(const FitData& data);

/// States that a recurrent model does not estimate, too few degrees of freedom, what is to be said
/// of learned constants, and how the prior was chosen.
Notes static_notes(const FitContext& fit, const ChosenPrior& chosen);

/// What the user gave and the model does not use. `networks`: it has some, which read all inputs.
Notes unused_notes(const FitContext& fit, const model::ModelDescription& description,
                   bool networks);

/// Measured values of the training data beyond those that go into the states each series begins
/// with, less the numbers that were learned.
double degrees_of_freedom(const FitContext& fit, const StaticResult& fitted);

/// What to know of learned constants: which did not move from where they began, which sit at a
/// bound, and which the data do not tell, alone or together.
Notes constant_notes(const std::vector<LearnedParameter>& learned);

}  // namespace kalmia::train
