// Measurements without their outliers, for what is estimated from differences and variances.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::model {

/// Isolated: see isolated_outliers_missing.
enum class OutlierRule { Usual, Isolated };

/// Replaces the outliers of one channel, of several, by the median of the six values around them
/// (Hampel's filter), from the first to the last and back, with those already replaced: three
/// outliers next to each other do not pass for the signal. An outlier is further from that median
/// than four deviations, by the median, of such distances. Where the signal itself moves as far
/// within three steps, outliers stay in; where most values repeat, nothing is an outlier.
///
/// `series`: the values of each, steps x channels, row by row; NaN = missing.
void replace_outliers(std::size_t channel, std::size_t channels,
                      std::span<std::vector<double>> series,
                      OutlierRule rule = OutlierRule::Usual);

/// The measurements of all series with the outliers of every channel replaced.
Dataset without_outliers(Dataset data);
/// The measurements without the outliers that no motion explains; these are missing. Such a value is
/// further from the median of those around it than replace_outliers asks, by as much as these lie
/// apart, the furthest of them left out. So turning points of a signal are no outliers.
Dataset isolated_outliers_missing(Dataset data);

}  // namespace kalmia::model
