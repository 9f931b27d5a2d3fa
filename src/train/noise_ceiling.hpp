// How large the measurement noise can be at most, from the measurements alone.
#pragma once

#include <vector>

#include "train/training_data.hpp"

namespace kalmia::train {

/// Differences of high order take away whatever is smooth and leave white noise, amplified: of
/// noise R they have the covariance C(2d, d) R at order d. What is left of the signal only adds to
/// it, so that
///   cov(diff^d y) / C(2d, d),   d = 1..8,
/// are ceilings of R, and the lowest is a good estimate where the signal is smooth. (For a rough
/// one it is the power at the highest frequency: a fourth of the steps' variance for a random
/// walk.)
///
/// Returns M x M in the model's units: the lowest ceiling of each channel; with `full` a covariance
/// at one order for all channels, where it is positive definite. Entries of channels with too few
/// neighbouring values are 0.
std::vector<double> noise_ceiling(const ScaledData& data, const std::vector<Stretch>& training,
                                  bool full);

}  // namespace kalmia::train
