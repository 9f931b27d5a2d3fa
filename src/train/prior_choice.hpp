// Which expert map: the one whose static model, the best of several fits, predicts best.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/best_static.hpp"

namespace kalmia::train {

/// The static model that the rest of a fit builds on.
struct ChosenPrior {
  StaticResult fitted;               ///< with the climate of its states
  std::unique_ptr<ScaledData> data;  ///< all data, in its units
  double score = 0;  ///< held-out loss; with little data, Akaike's criterion per value
  /// What is kept of where the fit began, and why; empty: nothing is.
  std::string kept;
  bool automatic = false;  ///< it is the best of several
  /// What was compared: "constant-position 1.2345, constant-velocity broke down".
  std::string comparison;
  std::vector<FitCandidate> search;  ///< what was tried
  /// What networks may learn more from than from a sum with many states; null: the same.
  std::unique_ptr<ChosenPrior> predictor;
};

/// Fits the static model of the prior that the options name, or of every candidate, and returns the
/// best. A user who stops the fit gets the best so far. Throws NumericalError if none could be
/// computed.
ChosenPrior choose_prior(const FitContext& fit);

}  // namespace kalmia::train
