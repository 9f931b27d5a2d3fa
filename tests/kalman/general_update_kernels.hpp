// The kernels of kalman/general_update-inl.h behind run-time dispatch, for the tests.
#pragma once

#include "kalman/general_update.hpp"
#include "support/lines.hpp"
#include "support/update_tape.hpp"

namespace kalmia::test {

/// Inputs and outputs of GeneralUpdate.
struct GeneralLines {
  GeneralLines(int n, int m)
      : x_pred(n, 1),
        linearise(n, 1),
        P_pred(n, n),
        y(m, 1),
        observed(m, 1),
        given(m, 1),
        x_filt(n, 1),
        P_filt(n, n),
        nll(1, 1),
        weights(m, 1),
        d_nll(1, 1),
        d_x_filt(n, 1),
        d_P_filt(n, n),
        d_x_pred(n, 1),
        d_P_pred(n, n),
        d_R(m, m),
        d_theta(2, 1),
        tape(n, m),
        lines(kalman::general_update_lines(n, m), 1) {}

  kalman::GeneralEmission emission;
  const double* theta = nullptr;
  bool weighted = false;      ///< false stands for `given` null
  bool relinearised = false;  ///< false stands for `linearise` null
  Lines<double> x_pred, linearise, P_pred, y, observed, given;
  Lines<double> x_filt, P_filt, nll, weights;
  Lines<double> d_nll, d_x_filt, d_P_filt, d_x_pred, d_P_pred, d_R, d_theta;
  TapeLines<double> tape;
  Lines<double> lines;
};

lanes::LaneBits general_update(GeneralLines& s);
/// With the forward before it; sets d_x_pred, d_P_pred and d_R.
void general_update_backward(GeneralLines& s);

}  // namespace kalmia::test
