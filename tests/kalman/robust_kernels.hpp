// The kernels of kalman/robust-inl.h behind run-time dispatch, for the tests.
#pragma once

#include "kalman/robust.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

/// Inputs and outputs of robust_weights, and the noise they give.
template <typename T>
struct RobustLines {
  RobustLines(int n, int m)
      : N(n),
        M(m),
        H(m, n),
        R(m, m),
        y(m, 1),
        observed(m, 1),
        x_pred(n, 1),
        P_pred(n, n),
        weights(m, 1),
        R_eff(m, m),
        scratch(kalman::robust_scratch_lines(n, m), 1) {}

  int N, M;
  kalman::RobustOptions options;
  bool masked = true;  ///< false stands for observed null
  Lines<T> H, R, y, observed, x_pred, P_pred;
  Lines<T> weights, R_eff;
  Lines<T> scratch;
};

/// weights, then R_eff.
lanes::LaneBits robust_weights(RobustLines<float>& s);
lanes::LaneBits robust_weights(RobustLines<double>& s);
/// R += D^-1/2 R_eff D^-1/2: the adjoint of R_eff goes back to R.
void add_scaled_noise(RobustLines<double>& s);

}  // namespace kalmia::test
