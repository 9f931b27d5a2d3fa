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

/// The factors of a model that has none: of its filter and of the smoothers it has.
FoundCalibration find_factors(const Model& model, const ShownData& shown, const HiddenRuns& runs,
                              int threads);

/// What a model is calibrated on: the held-out stretches if it has networks or learned many numbers,
/// else all data; of long data an even selection, of fewer steps the more states there are.
ShownData shown_data(const FitContext& fit, const Model& model, double learned_numbers);

/// The last stage of a fit. `finished`: a model without factors, whose static model has learned so
/// many numbers.
FoundCalibration calibrate(const FitContext& fit, const Model& finished, double learned_numbers);

}  // namespace kalmia::train
