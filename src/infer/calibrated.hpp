// Covariances with the calibration's factors in them.
//
// A factor s says that the error of a prediction has covariance s P, not P. The gain K stays as it
// is, and so do the means; the error after the update is (I - K H) e_pred - K v, hence
//
//   P(s) = s (I - K H) P (I - K H)' + K R K'  =  s (P_filt - K R K') + K R K',
//   K R K' = P_filt H' R^-1 H P_filt,
//
// which is Joseph's form for a gain that is not the best one. The same holds for a smoothed state,
// with what all other measurements say of it in place of the prediction. Factors that differ from
// state to state are those of what is left of the prediction, (I - K H) P (I - K H)'
// (step_factors.hpp). Of a mixture, the spread
// of the means counts to what is scaled, and K R K' is the mean of its components'.
#pragma once

#include <span>
#include <vector>

#include "model/learned_model.hpp"

namespace kalmia::infer {

/// What the update of a state took: its measurement y (M, NaN = missing), weights of its noise (M;
/// null: 1), and where a nonlinear emission was linearised (N). In the model's units.
struct StateUpdate {
  const double* y = nullptr;
  const double* weight = nullptr;
  const double* x = nullptr;
};

/// The noise (M x M) that a measurement had in the update of a state N(z, G): D^-1/2 R D^-1/2 with
/// D = diag(w). The weights w are those of the update, times for Student-t noise those that go with
/// the state after it (docs/models.md), of e = y - h(z) and var = (H G H')_mm.
std::vector<double> noise_of_update(const model::LearnedModel<float>& model, const double* z,
                                    const double* G, const StateUpdate& update);

/// K R K' (N x N) of a state N(z, G), in the model's units.
void noise_part(const model::LearnedModel<float>& model, const double* z, const double* G,
                const StateUpdate& update, double* out);

/// h(x) (M) and H P H' (M x M) of a prediction, in the model's units.
void predict_measurement(const model::LearnedModel<float>& model, const double* x, const double* P,
                         double* y_pred, double* HPH);

/// What a smoothed state N(z, G) had said of its own measurement without it. With V = H G H' and
/// r = y - h(z), of the measured components,
///
///   e = R (R - V)^-1 r,   W = V (R - V)^-1 R,
///
/// since the update that added y made V = W - W (W + R)^-1 W of W, and r = R (W + R)^-1 e; R is
/// that of noise_of_update. Exact if y reached the state by that update alone, so not over networks
/// that read y.
///
/// Shapes: y_pred = y - e (M, 0 where missing), W (M x M, rows and columns 0 there); model's units.
void leave_out(const model::LearnedModel<float>& model, const double* z, const double* G,
               const StateUpdate& update, double* y_pred, double* W);

/// log N(r; 0, S) of the components of r that are not NaN. Throws NumericalError if S is not
/// positive definite.
double gaussian_log_likelihood(std::span<const double> r, std::span<const double> S);

/// Moves a draw from N(mean, C) to one from N(mean, C_calibrated): x <- mean + T (x - mean),
/// T = C_calibrated^1/2 C^-1/2 with symmetric roots; where C is 0 there is no spread to stretch.
void stretch(int dim, const double* mean, const double* C, const double* C_calibrated, double* x);

}  // namespace kalmia::infer
