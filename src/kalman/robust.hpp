// What a caller of robust-inl.h sets and allocates.
#pragma once

#include "kalman/student_nodes.hpp"
#include "lanes/panel.hpp"

namespace kalmia::kalman {

/// Student-t measurement noise.
struct RobustOptions {
  /// nu. Smaller: heavier tails, and outliers count less. Large: the plain Gaussian update.
  double degrees_of_freedom = 4;

  /// Rounds of the fixed point, which converges linearly: fast but for innovations that may as well
  /// be outliers as not.
  /// Measured: 1000 innovations per case, half of them with an outlier of 3 to 20 sigma, nu 3 to
  /// 10, M 1 to 4. After 5 rounds H x_filt is off its limit, in standard deviations, by
  /// 1e-4 (median), 6e-3 (95 %) and 0.1 (worst) where H P_pred H' is R at most, and by 1e-3, 0.4
  /// and 5 where it is 10 R; there 20 rounds leave 2e-3 (95 %).
  int iterations = 5;

  /// Of these degrees of freedom, for the likelihood.
  StudentNodes nodes{degrees_of_freedom};
};

/// Scratch of robust_weights, in lines.
constexpr int robust_scratch_lines(int N, int M) {
  return N * M + 4 * M * M + lanes::triangle_size(M) + 3 * M;
}

}  // namespace kalmia::kalman
