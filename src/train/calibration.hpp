// Honest covariances: factors found on measurements that were hidden, without truth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kalmia/fit.hpp"
#include "model/ensemble.hpp"
#include "train/fit_context.hpp"
#include "train/hidden_values.hpp"

namespace kalmia::train {

/// What a calibration found.
struct FoundCalibration {
  std::vector<FitFactor> factors;
  std::optional<model::Calibration> calibration;  ///< nothing if no factors could be found
  std::vector<std::string> notes;                 ///< what is not calibrated, and why
};

/// What a model is calibrated on. Of long data it is an even selection, of fewer steps the more
/// states there are.
struct CalibrationData {
  ShownData fitted;
  /// What the model was not fitted to; nothing if it has learned so few numbers that it makes no
  /// difference: no networks, and at most a hundredth of the values.
  std::optional<ShownData> unseen;
};
CalibrationData calibration_data(const FitContext& fit, const Model& model, double learned_numbers);

/// The factors of a model that has none: of its filter and of the smoothers it has. `noise_std`:
/// how well its noise is known (FactorPrior).
FoundCalibration find_factors(const Model& model, const CalibrationData& data,
                              const HiddenRuns& runs, double noise_std, int threads);

/// The last stage of a fit. `finished`: a model without factors, whose static model has learned so
/// many numbers.
FoundCalibration calibrate(const FitContext& fit, const Model& finished, double learned_numbers);

}  // namespace kalmia::train
