// Predictions of measured values that were hidden, by all that a model has: its filter and its
// smoothers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"
#include "train/factor_search.hpp"

namespace kalmia::train {

/// What is predicted: series without truth, of which the steps from first[i] on count, for a filter
/// has settled by then.
struct ShownData {
  Dataset data;
  std::vector<int> first;
};

/// Values are hidden in runs of these lengths.
struct HiddenRuns {
  std::vector<int> lengths;
  int passes = 12;  ///< over the data, at least, each with other values hidden
};

/// Predictions of one method: "filter", "linearized" or the trained smoother's.
struct MethodPredictions {
  std::string what;
  PredictedValues values;
};

/// All predictions of a model that is not calibrated. The filter's are its innovations, and its
/// states where the values of all channels are hidden, as in a forecast; a smoother's are its
/// states where values are hidden as the data miss them: in all channels at once, or in each for
/// itself. What a smoother says of a value amid others is told by taking each out of its state
/// (infer/calibrated.hpp) if the model has no networks, else by hiding single values.
std::vector<MethodPredictions> predict_hidden(const Model& model, const ShownData& shown,
                                              const HiddenRuns& runs, int threads);

/// The variance of the Gaussian whose interval of 95 % is that of Student's t of unit scale.
double student_interval_variance(double degrees_of_freedom);

}  // namespace kalmia::train
