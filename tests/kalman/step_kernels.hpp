// The kernels of kalman/step-inl.h behind run-time dispatch, for the tests. Everything one step
// reads and writes is in one struct of line matrices.
#pragma once

#include "kalman/emission.hpp"
#include "kalman/scratch.hpp"
#include "support/lines.hpp"
#include "support/update_tape.hpp"

namespace kalmia::test {

/// Inputs, outputs and adjoints of one predict + update + smoother step.
template <typename T>
struct StepLines {
  StepLines(int n, int m)
      : N(n),
        M(m),
        F(n, n),
        e(n, 1),
        Q(n, n),
        x_filt(n, 1),
        P_filt(n, n),
        x_pred(n, 1),
        P_pred(n, n),
        y(m, 1),
        observed(m, 1),
        x_new(n, 1),
        P_new(n, n),
        nll(1, 1),
        tape(n, m),
        d_F(n, n),
        d_x_filt(n, 1),
        d_P_filt(n, n),
        d_x_pred(n, 1),
        d_P_pred(n, n),
        d_nll(1, 1),
        d_x_new(n, 1),
        d_P_new(n, n),
        d_R(m, m),
        x_smooth(n, 1),
        P_smooth(n, n),
        x_out(n, 1),
        P_out(n, n),
        scratch(kalman::step_scratch_lines(n, m), 1) {}

  int N, M;
  Lines<T> F, e, Q;
  Lines<T> x_filt, P_filt, x_pred, P_pred;  // [k-1|k-1] and [k|k-1]
  Lines<T> y, observed, x_new, P_new, nll;  // [k|k]
  TapeLines<T> tape;
  Lines<T> d_F;
  Lines<T> d_x_filt, d_P_filt, d_x_pred, d_P_pred, d_nll, d_x_new, d_P_new, d_R;
  Lines<T> x_smooth, P_smooth, x_out, P_out;  // smoothed at k and at k-1
  Lines<T> scratch;
};

/// x_pred, P_pred from x_filt, P_filt; `with_F` false stands for F null.
void predict_forward(StepLines<float>& s, bool with_F);
void predict_forward(StepLines<double>& s, bool with_F);
/// d_F, d_x_filt, d_P_filt from d_x_pred, d_P_pred.
void predict_backward(StepLines<float>& s, bool with_F);
void predict_backward(StepLines<double>& s, bool with_F);
/// x_new, P_new, nll from y, x_pred, P_pred; `masked` false stands for observed null.
lanes::LaneBits update_forward(const kalman::EmissionView& h, StepLines<float>& s, bool masked);
lanes::LaneBits update_forward(const kalman::EmissionView& h, StepLines<double>& s, bool masked);
/// d_x_pred, d_P_pred, d_R from d_nll, d_x_new, d_P_new.
void update_backward(const kalman::EmissionView& h, StepLines<float>& s, bool masked);
void update_backward(const kalman::EmissionView& h, StepLines<double>& s, bool masked);
/// x_out, P_out from x_smooth, P_smooth.
lanes::LaneBits rts_step(StepLines<float>& s);
lanes::LaneBits rts_step(StepLines<double>& s);

}  // namespace kalmia::test
