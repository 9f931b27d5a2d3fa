// Training of the leak-free smoother: what the future adds to the finished filter.
#pragma once

#include <memory>

#include "train/smoother_trainee.hpp"

namespace kalmia::train {

/// Gives `model` networks to start from, and trains them. All must outlive the stage.
std::unique_ptr<SmootherStage> fusion_stage(model::LearnedModel<float>& model,
                                            const ScaledData& data, const Split& split,
                                            const FitSpec& spec, ThreadTeam& team);

}  // namespace kalmia::train
