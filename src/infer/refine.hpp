// A smoothed pass made better by further passes that know what the first one found: where to
// linearise, and, of Student-t noise, which values are outliers.
#pragma once

#include <span>
#include <vector>

#include "infer/filter_pass.hpp"

namespace kalmia::infer {

/// With the residual e = y - h(x) of a smoothed state and v its variance H P H', component by
/// component,
///
///   w = (nu + 1) / (nu + (e^2 + v) / R),
///
/// the mean of the weight given all measurements: the first half of a step of the
/// expectation-maximisation algorithm, whose second half takes the weights as given. Weights that
/// pieces have already (noise that the data state) are part of R and of the result.
///
/// `pass`: smoothed. Result: (series, steps, M) of the pass, 1 where a value is missing.
std::vector<double> student_weights(const model::LearnedModel<float>& model,
                                    std::span<const SeriesView> pieces, const FilterPass& pass);

/// The pieces with these weights.
std::vector<SeriesView> weighted(std::span<const SeriesView> pieces, const FilterPass& pass,
                                 const std::vector<double>& weights);

struct Refinement {
  /// Passes, at most, with the expert map and the emission linearised at the smoothed means: each
  /// is a Gauss-Newton step towards the most likely trajectory. They end when no mean moves by more
  /// than a thousandth of its standard deviation.
  int iterations = 0;
  /// The process noise of those passes over the filter's, reached by steps of 1/3, or of less where
  /// the last pass would come before it. A filter's noise also covers what its linearisation, at
  /// estimates that have not seen the future, gets wrong; passes that linearise where the
  /// trajectory is need less.
  double process_noise = 1;
  double first_process_noise = 1;  ///< of the first pass
};

/// Filters and smooths the pieces of a smoothed pass again, and sets moments.smoothed: as `how`
/// says, and where noise is Student-t with weights from the smoothed states, a few times. Returns
/// the engine's nll of the last pass, of all pieces; NaN if there was none.
double refine_pass(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                   FilterPass& pass, const Refinement& how, ThreadTeam& team,
                   const std::function<std::string(int piece)>& name);

}  // namespace kalmia::infer
