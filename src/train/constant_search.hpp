// Where to look for the learned constants of a user's equations. The likelihood has several maxima:
// of two parts of a signal either may be the fast one, and a map that is wrong makes a filter lose
// its way. So many starts are followed for a few steps on a part of the data, and the best further.
#pragma once

#include <functional>
#include <vector>

#include "train/bfgs.hpp"
#include "train/static_likelihood.hpp"

namespace kalmia::train {

/// With more constants, a search begins at the given values alone.
inline constexpr int kMostSearchedConstants = 8;

/// How many constants are learned of an expert: parameters without regularisation.
int learned_constants(const prior::Expert& expert);

/// A point of a static likelihood.
struct ConstantPoint {
  std::vector<double> theta;      ///< values of all parameters, where constants are counted from
  std::vector<double> variables;  ///< after StaticLikelihood::begin_constants_at(theta)
  double value = 0;               ///< of a part of the data
  BfgsMemory curvature;           ///< there
  bool given = false;             ///< it began where the constants are given
};

/// Values of all parameters that a search may begin at: the given ones, then others of the
/// constants (the same in every run):
///
/// - of one that a bound is on one side of, its distance to that is up to `kReach` times as large
///   or as small as given;
/// - of one between two bounds, the same, and as often anything between them;
/// - of a free one its size is, and every fourth time the sign is the other; where 0 is given the
///   size is anything from 1/100 to 100.
///
/// In each constant, the values of `count` starts are spread evenly (a Latin hypercube).
std::vector<std::vector<double>> constant_starts(
    const std::vector<prior::ExpertParameter>& parameters, int count);

struct ConstantSearchOptions {
  BfgsOptions bfgs;
  /// Asked after every iteration with the value; false ends the search.
  std::function<bool(double value)> go_on;
};

/// The best maxima there are on a part of the training stretches, the best first; of those that are
/// as good, the one that began where the constants are given. `model` stands where the search of a
/// fit would begin. Empty where no start has a likelihood.
std::vector<ConstantPoint> search_constants(model::LearnedModel<double>& model,
                                            const NoiseFactor& noise, const ScaledData& data,
                                            const std::vector<StepRange>& training,
                                            ThreadTeam& team, const std::vector<double>& small,
                                            const ConstantSearchOptions& options);

}  // namespace kalmia::train
