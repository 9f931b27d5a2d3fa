// Whether a quantity stays where it is or drifts away.
#pragma once

#include <cstddef>
#include <functional>

namespace kalmia::model {

/// Mean and variance of values that come one after another.
struct RunningMoments {
  std::size_t count = 0;
  double mean = 0;
  double squares = 0;  ///< about the mean

  /// Welford's update: no cancellation for large offsets.
  void add(double value) {
    ++count;
    const double off = value - mean;
    mean += off / static_cast<double>(count);
    squares += off * (value - mean);
  }
  double variance() const { return count > 1 ? squares / static_cast<double>(count) : 0; }
};

/// Compares the variance within parts of each series with that of all values.
class DriftTest {
 public:
  /// A series; NaN = missing.
  void add_series(std::size_t steps, const std::function<double(std::size_t step)>& value);
  const RunningMoments& all() const { return all_; }
  /// Most of the variance is between parts of a series, not within them, so that a level seen later
  /// may be one never seen before.
  bool wanders() const;

 private:
  RunningMoments all_;
  double within_ = 0;
  std::size_t within_freedom_ = 0;
};

}  // namespace kalmia::model
