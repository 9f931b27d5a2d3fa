// The bias-variance-noise decomposition, measured.
#pragma once

#include <span>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"
#include "study/truth.hpp"

namespace kalmia::reproduction {

/// Steps at the start of a series that do not count: where a trajectory begins is no question of
/// the method, and one such error can outweigh thousands of steps.
inline constexpr int kUnscored = 64;

/// Mean squares per measured value of predictions y_pred[k|<k] = y[k] - r[k], k >= kUnscored.
///
///   E |y_pred - y|^2 = E |y_pred - H x|^2 + tr(R)
///
/// The noise of y[k] is independent of what y_pred has seen, so the cross term vanishes.
///
/// Paper: App. D. Differs from the paper: its last line carries a further term; see
/// docs/errata.md, item 6.
struct Decomposition {
  double self_supervised = 0;  ///< y_pred - y
  double reducible = 0;        ///< the same less the mean variance of the noise: needs no truth
  double prediction = 0;       ///< y_pred - H x: what `reducible` estimates
  /// Standard error of `reducible` as an estimate of `prediction`: their difference is a mean of
  /// terms that the noise of one measurement makes, which are independent.
  double standard_error = 0;
};

/// `truth` has that of the channels; R is M x M, row-major.
Decomposition decompose(const Dataset& data, const study::Truth& truth,
                        const std::vector<Innovations>& innovations, std::span<const double> R);

}  // namespace kalmia::reproduction
