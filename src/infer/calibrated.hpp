// Covariances with the calibration's factors in them.
//
// A factor s says that the error of a prediction has covariance s P, not P. The gain K stays as it
// is, and so do the means; the error after the update is (I - K H) e_pred - K v, hence
//
//   P(s) = s (I - K H) P (I - K H)' + K R K'  =  s (P_filt - K R K') + K R K',
//   K R K' = P_filt H' R^-1 H P_filt,
//
// which is Joseph's form for a gain that is not the best one. The same holds for a smoothed state,
// with what all other measurements say of it in place of the prediction. Of a mixture, the spread
// of the means counts to what is scaled, and K R K' is the mean of its components'.
#pragma once

#include <span>

#include "model/learned_model.hpp"

namespace kalmia::infer {

/// K R K' (N x N) of a state with covariance `P` whose last measurement was y (NaN = missing), in
/// the model's units. A nonlinear emission is linearised at `x`.
void noise_part(const model::LearnedModel<float>& model, const double* x, const double* P,
                const double* y, double* out);

/// s (C - noise) + noise, entry by entry.
void calibrate(double factor, std::span<const double> noise, std::span<double> covariance);

/// h(x) (M) and H P H' (M x M) of a prediction, in the model's units.
void predict_measurement(const model::LearnedModel<float>& model, const double* x, const double* P,
                         double* y_pred, double* HPH);

/// What a smoothed state N(z, G) had said of its own measurement y (NaN = missing) without it. With
/// V = H G H' and r = y - h(z), of the measured components,
///
///   e = R (R - V)^-1 r,   S = R (R - V)^-1 R,
///
/// since the update that added y made V = W - W (W + R)^-1 W of W, and r = R (W + R)^-1 e. A
/// nonlinear emission is linearised at `x`. Exact if y reached the state by that update alone, that
/// is if d h(z) / dy = V R^-1 = W (W + R)^-1. Where networks read y too, as in a linearized
/// smoother over their filter, h(z) follows y by more than that: by the gain of `response` times W,
/// say, so that r = R (response W + R)^-1 e.
///
/// Shapes: y_pred = y - e (M, 0 where missing), S (M x M, rows and columns 0 there); model's units.
/// Returns the trace of V R^-1.
double leave_out(const model::LearnedModel<float>& model, const double* x, const double* z,
                 const double* G, const double* y, double response, double* y_pred, double* S);

/// log N(r; 0, S) of the components of r that are not NaN. Throws NumericalError if S is not
/// positive definite.
double gaussian_log_likelihood(std::span<const double> r, std::span<const double> S);

/// Moves a draw from N(mean, C) to one from N(mean, C_calibrated): x <- mean + T (x - mean),
/// T = C_calibrated^1/2 C^-1/2 with symmetric roots; where C is 0 there is no spread to stretch.
void stretch(int dim, const double* mean, const double* C, const double* C_calibrated, double* x);

}  // namespace kalmia::infer
