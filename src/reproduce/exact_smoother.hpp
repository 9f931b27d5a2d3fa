// Smoothing with a map that is exact: how well a system without process noise can be known.
#pragma once

#include "kalmia/classical.hpp"

namespace kalmia::reproduction {

/// How the process noise falls while the path settles.
struct ExactSmootherOptions {
  double first_variance = 1e-3;
  double last_variance = 1e-10;
  double factor = 0.3;  ///< from one round to the next
  int max_rounds = 60;
  /// Done when, at the last variance, no mean moves by more than this many standard deviations.
  double tolerance = 1e-3;
};

/// Iterated smoothing (Gauss-Newton on the whole path) of a nonlinear model, its Q replaced by a
/// multiple of the identity that falls from round to round: the extended smoother alone loses a
/// chaotic path if there is no process noise, but from a path near the right one each round stays
/// on it. Throws NumericalError.
FilterResult smooth_exactly(const NonlinearModel& model, const MeasurementsView& y,
                            const ExactSmootherOptions& options = {});

}  // namespace kalmia::reproduction
