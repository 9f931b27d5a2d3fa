// The data of one seed of an experiment.
#pragma once

#include <cstdint>
#include <string>

#include "kalmia/data.hpp"

namespace kalmia::reproduction {

/// Steps of the longest training trajectory. A smaller size is the beginning of it.
inline constexpr int kLongestTraining = 131072;

/// Three separate trajectories, each with its truth. Who may look at the truth: scoring, at that of
/// the test; supervised methods, at that of the training.
struct Trajectories {
  Dataset training, validation, test;
};

/// Simulates those of `system`, from streams keyed by the seed and by what each is for.
Trajectories make_trajectories(const std::string& system, std::uint64_t seed, int training,
                               int validation, int test);

/// The first `steps` of every series.
Dataset first_steps(const Dataset& data, int steps);

/// The same data as a user without clean measurements has them.
Dataset without_truth(Dataset data);

}  // namespace kalmia::reproduction
