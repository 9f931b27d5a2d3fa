// How large the measurement noise can be at most, from the measurements alone.
#pragma once

#include <vector>

#include "train/training_data.hpp"

namespace kalmia::train {

/// The lowest level of each channel's spectrum. White noise has the same power at all frequencies
/// and the signal only adds to it, so that the spectrum is nowhere below R; where the signal leaves
/// any band free, its lowest level is R.
struct NoiseCeiling {
  /// M x M, in the model's units; with `full` a covariance. 0 for channels of which too few
  /// neighbouring values were measured.
  std::vector<double> R;
  /// Enough data that no R far above it is to be believed.
  bool firm = false;
};

/// Welch's estimate: pieces of 32 steps that overlap by half, without their trend, tapered (Hann),
/// and a mean over three neighbouring frequencies; the two lowest, where the taper lets trends
/// through, are left out. Pieces with missing values are, too. For short data pieces are shorter.
/// Measured: noise of the simulated systems within 10 % from 2,550 steps (`lorenz` 0.24..0.26 for
/// 0.25), but for `random-linear`, whose own spectrum leaves no band free; a random walk has a
/// fourth of its steps' variance.
///
/// With `outliers` (noise of heavy tails) they are replaced first (model/outliers). What is left is
/// the noise without its outliers, which R stands for; where they stay in, the ceiling is higher.
NoiseCeiling noise_ceiling(const ScaledData& data, const std::vector<StepRange>& training,
                           bool full, bool outliers = false);

}  // namespace kalmia::train
