// The moments of some series side by side, in the model's units: filtered, then smoothed or
// sampled.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "infer/run.hpp"
#include "kalmia/classical.hpp"

namespace kalmia::infer {

struct FilterPass {
  /// Arrays (series, steps, ...) as `wanted`; log_likelihood holds the engine's nll.
  FilterResult moments;
  std::vector<double> F;  ///< (series, steps, N, N); F[k] leads from k-1 to k
  std::vector<double> Q;  ///< (series, steps, N, N): the noise of that step
  std::vector<int> lengths;
  std::vector<double> nll;  ///< (series, steps): the summands of log_likelihood
};

/// Filters the pieces. Rows beyond a piece's length are not set. Throws NumericalError that begins
/// with `name(piece)` and the step; so does smooth_pass.
FilterPass run_pass(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                    const RequestedMoments& wanted, ThreadTeam& team,
                    const std::function<std::string(int piece)>& name,
                    const RunSettings& settings = {});

/// The linearized (Rauch-Tung-Striebel) smoother over a pass with everything wanted: sets
/// moments.smoothed.
///
/// Paper: Sec. 6; see docs/errata.md, item 1.
void smooth_pass(FilterPass& pass, ThreadTeam& team,
                 const std::function<std::string(int piece)>& name);

/// The model's trained smoother over the pieces of a pass with predictions: sets moments.smoothed.
void smooth_by_networks(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                        FilterPass& pass, ThreadTeam& team,
                        const std::function<std::string(int piece)>& name);

/// Of each piece the means of x[k] given all but y[k] (steps x N), by the model's trained smoother.
std::vector<std::vector<double>> predict_left_out(const model::LearnedModel<float>& model,
                                                  std::span<const SeriesView> pieces,
                                                  ThreadTeam& team);

/// Trajectories (steps x N) of series `s` from the smoothing distribution, by sampling backwards:
///
///   x[K] ~ N(x[K|<=K], P[K|<=K])
///   x[k-1] | x[k] ~ N(x_filt + J (x[k] - x_pred), (I - J F) P_filt (I - J F)' + J Q J')
///
/// with J and Q of the smoother's step. `trajectories`: (count, steps, N), each from its stream.
void sample_pass(const FilterPass& pass, int s, std::span<RandomStream> random,
                 std::span<double> trajectories);

}  // namespace kalmia::infer
