// What drives the steps of a series: their lengths and the control inputs.
#pragma once

#include <string>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::model {

/// Lengths within this share of the usual one count as the usual one.
inline constexpr double kRegularStep = 0.01;
/// A step that differs from the usual one by this share of it does so by the rounding of times.
inline constexpr double kStepRounding = 1e-6;

/// The lengths of a data set's steps and the size of its inputs.
struct DriveStatistics {
  double dt = 1;                         ///< the usual length: the median
  double furthest = 0;                   ///< the largest departure from it
  bool irregular = false;                ///< some step is longer or shorter
  std::vector<double> u_mean, u_spread;  ///< U
};

/// Throws DataError, which names the place, if time does not rise or an input has no values.
DriveStatistics drive_statistics(const Dataset& data);

/// Data are refused whose usual step is longer or shorter than the model's by more than this
/// factor: their time is in another unit.
inline constexpr double kOtherUnit = 10;

/// Throws DataError, which names the remedy, unless the time of `data` can be that of a model
/// fitted to a time axis of that kind with steps of the usual length `dt`: both have a time axis or
/// neither has, and the median steps differ by no more than kOtherUnit. `place`: how messages
/// begin.
void check_time(const Dataset& data, TimeKind kind, double dt, const std::string& place);

/// What drives each step of one series.
struct SeriesDrive {
  /// Length of the step that leads to k, in the data's unit of time; empty: all are `dt`.
  std::vector<double> dt;
  /// Inputs at k, steps x U; they act during the step that leads on from k. A missing value is the
  /// one before it.
  std::vector<double> u;
};

/// `dt`: the usual length. Throws as drive_statistics does.
SeriesDrive series_drive(const Dataset& data, const Series& series, double dt);

}  // namespace kalmia::model
