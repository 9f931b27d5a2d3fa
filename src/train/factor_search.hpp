// Factors of variances, found by how far predictions were off.
#pragma once

#include <cstddef>
#include <vector>

#include "model/distance_factors.hpp"

namespace kalmia::train {

/// A measured value that was predicted without itself.
struct PredictedValue {
  int channel = 0;
  int block = 0;      ///< of neighbouring values, below kFactorBlocks: their errors may hang together
  double square = 0;  ///< of its error
  double state = 0;   ///< what a factor multiplies of the error's stated variance
  double rest = 0;    ///< what none does: the noise of measurements
};
inline constexpr int kFactorBlocks = 40;

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
///   sum over values of h_j(d) g (P(|u| > z) - p) / D_j  =  pull_j,     g = d log (s A + F)^1/2 / d log s,
///
/// where h_j is the share of the knot in log s(d), and the step at z = 1.96 is smoothed a little, so
/// that p is what it gives for Gaussian errors. An outlier is one value out of bounds, however far.
/// Values of which little depends on s, for most of their variance is noise, count little, by g.
/// Errors of neighbours hang together: D_j is by how much more blocks of values vary than single
/// ones would.
///
/// `pull` is that of a prior: log s is near 0 at the first knot (0.5) and like its neighbour at the
/// others (0.7 for a distance e times as large), so that few values change little. Several channels
/// are first taken for one, then the prior of each is around what was found of all (0.3).
FoundFactors search_factors(const PredictedValues& predicted, int channels);

}  // namespace kalmia::train
