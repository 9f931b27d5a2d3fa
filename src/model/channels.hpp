// What the noisy measurements themselves say about each channel: its spread, its step, whether it
// wanders. Everything automatic about scaling starts here; truth is never looked at.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::model {

struct ChannelStatistics {
  std::size_t measured = 0;  ///< values that are there
  double mean = 0;
  double spread = 0;  ///< standard deviation
  /// How much a value cannot be told from those before it: the smaller of the deviations of first
  /// and second differences, as if they were those of white noise.
  double step = 0;
  /// How much the signal changes in a step, and how much that change does: deviations of first and
  /// second differences beyond those of white noise of deviation `step`.
  double rate = 0, acceleration = 0;
  /// The level drifts: most of the spread is between parts of a series, not within them, so that a
  /// level seen later may be one never seen in training.
  bool wanders = false;
};

/// Throws DataError that names the channel and the rule if a channel has no values, an infinite
/// one, or only one value throughout.
std::vector<ChannelStatistics> channel_statistics(const Dataset& data);

/// Correlations of the channels (M x M), each from the steps where both are measured; 0 where there
/// are fewer than two.
std::vector<double> channel_correlation(const Dataset& data,
                                        const std::vector<ChannelStatistics>& channels);

}  // namespace kalmia::model
