// Which expert map: the one whose static model predicts best.
#pragma once

#include <memory>
#include <string>

#include "train/best_static.hpp"
#include "train/fit_context.hpp"

namespace kalmia::train {

/// The static model that the rest of a fit builds on.
struct ChosenPrior {
  StaticResult fitted;               ///< with the climate of its states
  std::unique_ptr<ScaledData> data;  ///< all data, in its units
  double score = 0;                  ///< as BestStatic::score
  std::string kept;                  ///< as BestStatic::kept
  bool automatic = false;            ///< it is the best of several
  /// What was compared: "constant-position 1.2345, constant-velocity broke down".
  std::string comparison;
};

/// Fits the static model of the prior that the options name, or of every candidate, and returns the
/// best. A user who stops the fit gets the best so far. Throws NumericalError if none could be
/// computed.
ChosenPrior choose_prior(const FitContext& fit);

}  // namespace kalmia::train
