// Factors of variances, found by how far predictions were off.
#pragma once

#include <cstddef>
#include <vector>

#include "model/distance_factors.hpp"

namespace kalmia::train {

/// A measured value that was predicted without itself.
struct PredictedValue {
  int channel = 0;
  int block = 0;      ///< of neighbouring values, from 0 on: their errors may hang together
  double square = 0;  ///< of its error
  double state = 0;   ///< what a factor multiplies of the error's stated variance
  double rest = 0;    ///< what none does: the noise of measurements
};

/// Predicted values, and the distances (infer/distances.hpp) that each one's factor depends on.
struct PredictedValues {
  /// 1: each value has the distance of its channel. More: it has those of all channels, whose
  /// factors are one curve, and the geometric mean of them is its factor.
  std::size_t distances_of_one = 1;
  std::vector<PredictedValue> values;
  std::vector<double> distances;
};

/// Factors as they were found.
struct FoundFactors {
  model::DistanceFactors factors;
  /// Standard errors of their logarithms as the values alone tell them, and whether these tell
  /// anything; as factors.factors.
  std::vector<std::vector<double>> log_error;
  std::vector<std::vector<char>> determined;
};

/// The factors s(d) with which 95 of 100 values lie within 1.96 deviations of their prediction.
/// With u^2 = e^2 / (s A + F), A = state and F = rest, they solve, for each knot j,
///
///   sum over values of h_j(d) g (P(|u| > z) - p) / D_j  =  pull_j,     g = d log (s A + F)^1/2 / d
///   log s,
///
/// where h_j is the share of the knot in log s(d), and the step at z = 1.96 is smoothed a little,
/// so that p is what it gives for Gaussian errors. An outlier is one value out of bounds, however
/// far. Values of which little depends on s, for most of their variance is noise, count little, by
/// g. Errors of neighbours hang together: D_j is by how much more blocks of values vary than single
/// ones would. `pull` is that of the prior, by which few values change little.
///
/// The noise in F may be learned wrong, and then says of s what is not so, the more the larger F is
/// beside A. So F has a factor, too, which is found together with s, and not used.
///
/// Several channels are first taken for one, then the prior of each is around what was found of
/// all. `knots`: where log s bends; none: as the distances suggest.
struct FactorPrior {
  double first = 0.5;    ///< deviation of log s at the first knot
  double further = 1;    ///< at the others
  double change = 1;     ///< of its change over a distance, 1 + d, that is e times as large
  double channel = 0.3;  ///< both, of a channel around what was found of all
  double noise = 0.2;    ///< of the logarithm of the factor of F
};
FoundFactors search_factors(const PredictedValues& predicted, int channels,
                            const FactorPrior& prior = {}, std::vector<double> knots = {});

/// Factors of values that a model was fitted to, and with them those of values that it was not: the
/// second search begins where the first ended, and asks by how much larger factors have to be. That
/// is little, as a rule (0.2 for each deviation of its prior), and what is unseen is less.
FoundFactors search_factors(const PredictedValues& fitted, PredictedValues unseen, int channels,
                            double noise_std = FactorPrior().noise);

}  // namespace kalmia::train
