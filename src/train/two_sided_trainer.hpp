// Training of two-sided smoothers: networks that read the past and the future of a step, by the
// likelihood of each measurement given all others.
#pragma once

#include <memory>

#include "train/smoother_trainee.hpp"

namespace kalmia::train {

/// Windows of a two-sided smoother are so many times as long as the filter's: the backward encoder
/// knows nothing at a window's end.
inline constexpr int kWindowFactor = 2;

/// Gives `model` networks to start from, of the kind that `options` ask for, and trains them. All
/// must outlive the stage.
///
/// A recursive smoother starts from the filter's networks, as far as they fit, with a future that
/// does not count yet, and goes on at a smaller rate. It can leak: the state before k has seen
/// y[k], and training rewards that. So its networks are chosen by the held-out loss plus the leak:
/// a leak takes noise of y[k] out of the difference to its prediction, and a unit of it gains at
/// most a nat of loss a value. What is left is an honest gain. Measured (Lorenz, 111,411 steps,
/// 1,000 updates, filter's loss 0.780): the loss falls to 0.770, and the leak rises to 0.010.
/// Without the gradient from a step to the one before, and at three times the rate, the leak stayed
/// below 0.001, but the loss rose to 0.82.
std::unique_ptr<SmootherStage> two_sided_stage(model::LearnedModel<float>& model,
                                               const ScaledData& data, const Split& split,
                                               const FitOptions& options, ThreadTeam& team);

/// The leak of a model's smoother over held-out data (infer/leak.hpp).
double held_out_leak(const model::LearnedModel<float>& model, const ScaledData& data,
                     const Split& split, ThreadTeam& team);

}  // namespace kalmia::train
