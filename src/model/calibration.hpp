// Factors that make reported covariances honest, found on held-out measurements.
#pragma once

namespace kalmia::model {

/// What the covariance of a state is multiplied by before its own measurement is added: P[k|<k] of
/// the filter, and what all other measurements say, of either
/// smoother. 1: as computed.
struct Calibration {
  double filter = 1;
  double linearized = 1;
  double trained = 1;  ///< the smoother with networks of its own
};

}  // namespace kalmia::model
