// The static model of one expert map: the best of several fits.
#pragma once

#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/static_stage.hpp"

namespace kalmia::train {

struct BestStatic {
  StaticResult fitted;
  double score = 0;  ///< held-out loss; with little data, Akaike's criterion per value
  /// What is kept of where the fit began, and why; empty: nothing is.
  std::string kept;
};

/// How thoroughly a static model is fitted.
enum class Care {
  Glance,  ///< to a part of the data, once, and not to the last digit: to see whether it is worth
           ///< it
  Full,
};

/// Fits the static model of `description`, beginning at `from` where that is given, and where tails
/// are to be learned those too. Then, with full care, as long as the user does not stop the fit and
/// there are data to hold out:
/// - With few data, fits with regularised process noise, which may predict better than what makes
///   the data most likely.
/// - With a user's equations, where the search began. The best of three stays: the result; noise
///   that is fitted with the constants as they began; all as it began.
/// Throws NumericalError if not even the first could be computed.
BestStatic fit_best_static(const FitContext& fit, model::ModelDescription description,
                           const ScaledData& data, const StaticResult* from = nullptr,
                           Care care = Care::Full);

/// A model as it is, with its score.
BestStatic as_found(const FitContext& fit, StaticResult found, const ScaledData& data);

/// The options of a static fit that is reported as that of `prior`.
StaticOptions reporting_options(const FitContext& fit, const std::string& stage);

/// What was found for some of the channels each, in the units of a model of all of them: one after
/// the other, independent of each other. The training loss is the mean of theirs.
StaticResult joined(const model::ModelDescription& description,
                    const std::vector<StaticResult>& models);

/// The learned parameters of the expert that have a meaning of their own; a departure's entries
/// have none. With the fitted values, or without `theta` those that learning starts with.
std::vector<Parameter> learned_parameters(const model::ModelDescription& description);

/// The same, with what the data say of each.
std::vector<LearnedParameter> examined_parameters(const StaticResult& fitted);

}  // namespace kalmia::train
