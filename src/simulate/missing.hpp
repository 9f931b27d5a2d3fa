// Which values of a channel go missing.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.hpp"

namespace kalmia::simulation {

/// `count` of `total` places chosen at random, each set of that size equally likely: 1 at a chosen
/// place, 0 elsewhere.
std::vector<char> choose_places(std::size_t total, std::size_t count, RandomStream& random);

/// Flags (1 = missing) for `total` values in a row, a share of them missing in runs of mean length
/// `mean_run`. The number of missing values is share * total, rounded up or down at random so that
/// the share of many short series comes out right as well.
///
/// Values that go missing one by one, without regard to each other, stand in runs of mean length
/// 1 / (1 - share) already; a `mean_run` of no more than that gives just this. For a larger one the
/// missing values are cut into m / mean_run runs and the others into the stretches between, each
/// way of cutting equally likely; lengths are then close to geometric. All of it lies on a circle
/// that is cut open at a random place: every value goes missing with the same probability.
std::vector<char> choose_missing(std::size_t total, double share, double mean_run,
                                 RandomStream& random);

}  // namespace kalmia::simulation
