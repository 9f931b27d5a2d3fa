// What the tasks of both experiments have in common: classical methods over one series, and models
// fitted by `kalmia::fit`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/fit.hpp"
#include "reproduce/method.hpp"

namespace kalmia::reproduction {

/// The one series of a trajectory, as classical filters take it.
MeasurementsView measurements(const Dataset& data);

double mean_square_error(const Array& estimates, std::span<const double> truth);

/// The measurements themselves as the estimate.
Task raw_task();

/// One method that comes of a fit.
struct FittedOutput {
  ReproduceMethod method;
  /// As SmoothOptions::method: `linearized`, or `auto` for the networks the model was fitted with
  /// (linearized if they were not kept); empty: the filter.
  std::string smoothing;
  int iterations = 0;  ///< of the linearized smoother
};

/// Fits to the noisy training measurements, choosing by the noisy validation ones, then runs over
/// the test measurements. Truth is looked at in scoring alone. `seconds_per_step`: of training,
/// for the time left.
Task fitted_task(const FitOptions& options, std::vector<FittedOutput> outputs, double start_seconds,
                 double seconds_per_step);

/// Options, as text, with what the experiments use of a system: two fits of the same settings, data
/// and seed are the same.
std::string settings_text(const FitOptions& options);

}  // namespace kalmia::reproduction
