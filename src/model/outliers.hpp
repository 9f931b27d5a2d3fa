// Measurements without their outliers, for what is estimated from differences and variances.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::model {

/// Replaces the outliers of one channel, of several, by the median of the six values around them
/// (Hampel's filter), from the first to the last and back, with those already replaced: three
/// outliers next to each other do not pass for the signal. An outlier is further from that median
/// than four deviations, by the median, of such distances. Where the signal itself moves as far
/// within three steps, outliers stay in; where most values repeat, nothing is an outlier.
///
/// `series`: the values of each, steps x channels, row by row; NaN = missing.
void replace_outliers(std::size_t channel, std::size_t channels,
                      std::span<std::vector<double>> series);

/// The measurements of all series with the outliers of every channel replaced.
Dataset without_outliers(Dataset data);
/// The same with the outliers missing.
Dataset outliers_missing(Dataset data);

}  // namespace kalmia::model
