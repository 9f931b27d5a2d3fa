// The last stage of a fit, if it is asked for: honest covariances.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kalmia/model.hpp"
#include "model/calibration.hpp"
#include "train/fit_context.hpp"

namespace kalmia::train {

struct FoundCalibration {
  std::vector<FitFactor> factors;
  std::optional<model::Calibration> calibration;  ///< nothing if no factors could be found
  std::vector<std::string> notes;                 ///< what is not calibrated, and why
};

/// The factors of the covariances of a finished model, which has none yet (calibration.hpp).
FoundCalibration calibrate(const FitContext& fit, const Model& finished);

}  // namespace kalmia::train
