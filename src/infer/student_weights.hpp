// Weights of Student-t measurement noise from smoothed states: what all of the data say about which
// values are outliers, not only those before them.
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
                                    std::span<const Piece> pieces, const FilterPass& pass);

/// The pieces with these weights.
std::vector<Piece> weighted(std::span<const Piece> pieces, const FilterPass& pass,
                            const std::vector<double>& weights);

}  // namespace kalmia::infer
