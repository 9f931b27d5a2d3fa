// From states to what is measured of them, and the noise of that, in the user's units.
#pragma once

#include <vector>

#include "kalmia/model.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// y = h(x) of a model, whatever its emission: a selection of states, a matrix, or an expression
/// with what was learned in it. Members of an ensemble share h; the first stands for all.
///
/// Of the moments of a mixture, h is linearised at the mixture's mean, once, not at each member's.
/// Both give the same for an h that is affine. For others they agree to first order in the spread
/// of the states, which is all that H P H' is good for within a member as well.
class MeasuredMap {
 public:
  /// The model must outlive the map.
  explicit MeasuredMap(const model::LearnedModel<float>& model);

  int state_dim() const { return model_.state_dim(); }
  int meas_dim() const { return model_.meas_dim(); }

  /// h(x) (M) at x (N), and H (M x N), its Jacobian there, unless null. What a channel does not
  /// depend on may be NaN.
  void at(const double* x, double* y, double* H) const;
  /// The moments of h of a state N(x, P), without measurement noise: h(x) (M) and H P H' (M x M)
  /// with H at x.
  void moments(const double* x, const double* P, double* y, double* S) const;

 private:
  const model::LearnedModel<float>& model_;
  std::vector<double> H_, offset_;  // of a linear emission: y = offset + H x in the user's units
};

/// G P G' (K x K) of G (K x N) and P (N x N), row-major.
void congruence(int K, int N, const double* G, const double* P, double* out);

class MeasurementNoise {
 public:
  explicit MeasurementNoise(const Model& model);

  /// Sets R (M x M) to the noise of a measurement whose values have the standard deviations `y_std`
  /// (M; one that is no positive number, as of a missing value: the usual one), null: all have the
  /// usual ones. Tails are part of it (Model::noise).
  void at(const double* y_std, double* R) const;

 private:
  std::vector<double> R_;    // of usual noise
  std::vector<double> std_;  // the deviations that it stands for
};

}  // namespace kalmia::infer
