// Small measures of how good estimates are. NaN means that there is nothing to compare.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kalmia::study {

/// A mean that leaves NaN out; empty if nothing else came.
class Mean {
 public:
  void add(double value) {
    if (value != value) return;
    sum_ += value;
    ++count_;
  }
  /// Adds `sum`, the sum of `count` values.
  void add(double sum, std::size_t count) {
    sum_ += sum;
    count_ += count;
  }
  double sum() const { return sum_; }
  std::size_t count() const { return count_; }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// e' C^-1 e over the components of `error` that are not NaN, and their number. A right covariance
/// C gives a mean of 1 per component: NIS of an innovation, NEES of an estimation error.
struct NormalisedSquare {
  double square = 0;
  std::size_t components = 0;
};

/// Empty if C (row-major; its observed block) is not positive definite.
std::optional<NormalisedSquare> normalised_square(std::span<const double> error,
                                                  std::span<const double> covariance);

/// Half the width of a 95 % interval of the standard normal distribution.
inline constexpr double kDeviations95 = 1.959963984540054;

/// Whether |error| is within the 95 % bar of a normal distribution with this variance: 1 or 0, NaN
/// if the error is NaN.
double within_95(double error, double variance);

/// Values with their gaps (NaN) filled by the line between the neighbours, in terms of `t` (empty:
/// steps are equal). Before the first and after the last measured value the nearest one is held.
/// Without any measured value all stay NaN.
std::vector<double> interpolate_gaps(std::span<const double> values, std::span<const double> t);

}  // namespace kalmia::study
