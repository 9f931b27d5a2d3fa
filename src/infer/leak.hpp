// How much a smoother's prediction of a measurement has seen of it.
#pragma once

#include <span>

#include "infer/run.hpp"

namespace kalmia::infer {

/// The leak of a model's trained smoother: the mean over steps and channels of
///
///   d y_pred[k] / d y[k],   y_pred = h(x[k] given all but y[k]),
///
/// by central differences of about a quarter of the noise. Each run moves one value in every
/// kLeakStride steps, up or down by chance, so that what one does to another's place cancels. 0,
/// but for rounding, if nothing leaks; 1 if the measurement itself is the prediction. NaN if
/// nothing is measured. Of long data the first kMostLeakSteps count. `runs`: pairs of runs, at most
/// kLeakStride; each moves other values.
inline constexpr int kLeakStride = 64;
inline constexpr int kLeakRuns = 8;
inline constexpr int kMostLeakSteps = 1 << 15;
double measure_leak(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                    ThreadTeam& team, int runs = kLeakRuns);

}  // namespace kalmia::infer
