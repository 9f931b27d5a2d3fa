// How finely the equations of a user are integrated.
#pragma once

#include <vector>

#include "base/threads.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// Whether a fit has to find the substeps: of Runge and Kutta's method, and none are given.
bool finds_substeps(const prior::ExpertSpec& spec);

/// Substeps, at most.
inline constexpr int kMostFoundSubsteps = 16;

/// How many substeps a step of a fitted model needs, at least as many as it has: doubled until the
/// integration's error in a step,
///
///   d = (x_n - x_2n) 16 / 15,   x_n: where n substeps lead from a filtered state,
///
/// is small against the process noise of the step, state by state,
///
///   mean of d^2 / Q < kTolerated^2.
///
/// Both are taken at states of the training data that the model's filter finds. An error adds to
/// what a step leaves unknown as noise does; one that small does not show.
int needed_substeps(const StaticResult& fitted, const ScaledData& data,
                    const std::vector<StepRange>& training, ThreadTeam& team);

}  // namespace kalmia::train
