#include "train/calibration_stage.hpp"

#include "kalmia/error.hpp"
#include "train/calibration.hpp"

namespace kalmia::train {

FoundCalibration calibrate(const FitContext& fit, const Model& finished) {
  if (fit.little_data())
    return {{},
            {},
            {"too little data to hold out any: covariances are not calibrated, but as computed"}};
  FoundCalibration found;
  try {
    found.factors =
        find_factors(finished, fit.data.all(), fit.split().held_out, fit.spec.train.threads);
  } catch (const NumericalError& error) {
    found.notes.push_back(std::string("covariances are not calibrated, but as computed: ") +
                          error.what());
    return found;
  }
  model::Calibration& factors = found.calibration.emplace();
  for (const FitFactor& each : found.factors) {
    (each.what == "filter"       ? factors.filter
     : each.what == "linearized" ? factors.linearized
                                 : factors.trained) = each.factor;
    if (!each.determined)
      found.notes.push_back("the held-out measurements say too little about the covariances (" +
                            each.what + "): they are not calibrated, but as computed");
  }
  return found;
}

}  // namespace kalmia::train
