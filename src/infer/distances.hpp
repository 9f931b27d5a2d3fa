// How far away the measurements are that a state is predicted from.
#pragma once

#include <vector>

#include "infer/lane_fill.hpp"

namespace kalmia::infer {

/// Of each step and channel of a series (steps, M), in usual steps, with its own value left out;
/// infinite where there is no measurement.
struct Distances {
  /// To the last value before the step: what a filter and a forecast predict from.
  std::vector<double> since;
  /// What a smoother predicts from: with a steps to the last value before and b to the first one
  /// after, 1 / (1 / a + 1 / b). The variance of a random walk between two known values grows with
  /// it. Where one side has no value it is the distance to that of the other.
  std::vector<double> between;
};

Distances distances_of(const SeriesView& series, int meas_dim);

}  // namespace kalmia::infer
