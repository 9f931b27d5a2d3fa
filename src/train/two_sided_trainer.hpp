// Training of two-sided smoothers: networks that read the past and the future of a step, by the
// likelihood of each measurement given all others.
#pragma once

#include <memory>

#include "train/smoother_trainee.hpp"

namespace kalmia::train {

/// Windows of a two-sided smoother are so many times as long as the filter's: the backward encoder
/// knows nothing at a window's end.
inline constexpr int kWindowFactor = 2;

/// Gives `model` networks to start from, of the kind that `spec` asks for, and trains them. All
/// must outlive the stage.
///
/// A recursive smoother starts from the filter's networks, as far as they fit, with a future that
/// does not count yet, and goes on at a smaller rate. It can leak: the state before k has seen y[k]
/// through the networks of the step before. So it is trained and chosen by measurements that its
/// networks are not shown.
std::unique_ptr<SmootherStage> two_sided_stage(model::LearnedModel<float>& model,
                                               const ScaledData& data, const Split& split,
                                               const FitSpec& spec, ThreadTeam& team);

}  // namespace kalmia::train
