// The kernels of kalman/update_lanes-inl.h behind run-time dispatch, for the tests.
#pragma once

#include "kalman/scratch.hpp"
#include "support/lines.hpp"
#include "support/update_tape.hpp"

namespace kalmia::test {

/// Inputs, outputs and adjoints of one update with an emission per lane.
template <typename T>
struct UpdateLines {
  UpdateLines(int n, int m)
      : N(n),
        M(m),
        H(m, n),
        R(m, m),
        y_pred(m, 1),
        y(m, 1),
        observed(m, 1),
        x_pred(n, 1),
        P_pred(n, n),
        x_filt(n, 1),
        P_filt(n, n),
        nll(1, 1),
        tape(n, m),
        d_nll(1, 1),
        d_x_filt(n, 1),
        d_P_filt(n, n),
        d_x_pred(n, 1),
        d_P_pred(n, n),
        d_y(m, 1),
        d_H(m, n),
        d_R(m, m),
        scratch(kalman::update_scratch_lines(n, m), 1) {}

  int N, M;
  bool masked = true;   ///< false stands for observed null
  bool linear = false;  ///< true stands for y_pred null, i.e. H x_pred
  Lines<T> H, R, y_pred, y, observed, x_pred, P_pred;
  Lines<T> x_filt, P_filt, nll;
  TapeLines<T> tape;
  Lines<T> d_nll, d_x_filt, d_P_filt;
  Lines<T> d_x_pred, d_P_pred, d_y, d_H, d_R;
  Lines<T> scratch;
};

/// x_filt, P_filt, nll.
lanes::LaneBits update_forward(UpdateLines<float>& s);
lanes::LaneBits update_forward(UpdateLines<double>& s);
/// d_x_pred, d_P_pred, d_y, d_H and, added to, d_R. Linear: the path through H x_pred included.
void update_backward(UpdateLines<float>& s);
void update_backward(UpdateLines<double>& s);
/// R = `shared` in every lane; null: the identity.
void set_noise(UpdateLines<float>& s, const double* shared);
void set_noise(UpdateLines<double>& s, const double* shared);

}  // namespace kalmia::test
