// What a caller of robust-inl.h sets and allocates.
#pragma once

#include "kalman/student.hpp"
#include "lanes/scratch.hpp"

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

/// Of robust_weights.
template <typename T>
struct RobustWeightLines {
  T *G, *B, *R, *R_eff, *X, *C, *inv, *r, *v;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N, int M) {
    G = taker.take(N * M);
    B = taker.take(M * M);
    R = taker.take(M * M);
    R_eff = taker.take(M * M);
    X = taker.take(M * M);
    C = taker.take(lanes::triangle_size(M));
    inv = taker.take(M);
    r = taker.take(M);
    v = taker.take(M);
  }
};

constexpr int robust_scratch_lines(int N, int M) {
  return lanes::count_lines<RobustWeightLines<double>>(N, M);
}

}  // namespace kalmia::kalman
