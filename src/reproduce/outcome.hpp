// From estimates of the test trajectory to the figures of a row, the bias-variance-noise
// decomposition among them.
#pragma once

#include <span>
#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/data.hpp"
#include "kalmia/model.hpp"
#include "reproduce/method.hpp"
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

/// What a filter, and perhaps a smoother over it, made of a trajectory.
struct Pass {
  Analysis analysis;
  std::vector<double> H, R;  ///< M x N, M x M, row-major
};

/// Of a classical filter or smoother over the one series of `data`. Without smoothed moments, the
/// filtered ones stand in their place.
Pass classical_pass(const FilterResult& result, const Dataset& data, std::vector<double> H,
                    std::vector<double> R);

/// Which of a pass's estimates are scored.
enum class Scored {
  Filter,
  Smoother,       ///< a backward pass over the filter, whose predictions are decomposed
  SmootherAlone,  ///< what predicts is not the filter it goes by: nothing is decomposed
};

/// `truth`: that of `test`.
Outcome outcome_of(const Pass& pass, const Dataset& test, const study::Truth& truth, Scored what);
/// `test` has the truth of all states in the order of the estimates, or of the channels.
Outcome outcome_of(const Pass& pass, const Dataset& test, Scored what);

/// The column of the truth that has the m-th channel. Throws DataError if there is none.
std::size_t truth_column(const Dataset& data, std::size_t m);

/// The state error of estimates of the channels alone, with an error of `channel_mse`, if every
/// other state of `test` is estimated by 0.
double state_mse_with_zeros(const Dataset& test, double channel_mse);

/// The measurements themselves as the estimate; of states that are not measured there is none.
Outcome raw_outcome(const Dataset& test);

}  // namespace kalmia::reproduction
