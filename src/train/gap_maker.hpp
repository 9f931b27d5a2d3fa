// Hides measurements in training, in runs, so that the networks know gaps.
#pragma once

#include <limits>

#include "base/random.hpp"

namespace kalmia::train {

/// Hides a share of the measurements of one sequence, in runs of kMeanGap steps on average, half of
/// them in one channel only.
class GapMaker {
 public:
  static constexpr double kMeanGap = 4;

  GapMaker(double share, RandomStream random) : share_(share), random_(random) {}

  /// Sets what is hidden of the next step (M numbers) to NaN.
  void hide(int M, double* y) {
    if (share_ <= 0) return;
    if (left_ == 0 && random_.uniform() < share_ / kMeanGap) {
      left_ = 1;
      while (random_.uniform() > 1 / kMeanGap) ++left_;
      const bool one = M > 1 && random_.uniform() < 0.5;
      channel_ = one ? static_cast<int>(random_.below(static_cast<std::uint64_t>(M))) : -1;
    }
    if (left_ == 0) return;
    --left_;
    for (int m = 0; m < M; ++m)
      if (channel_ < 0 || channel_ == m) y[m] = std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double share_;
  RandomStream random_;
  int left_ = 0;
  int channel_ = -1;  // -1: all
};

}  // namespace kalmia::train
