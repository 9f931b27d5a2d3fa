// A trained smoother for each member.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/members.hpp"

namespace kalmia::train {

struct TrainedSmoothers {
  std::optional<FitSmootherSummary> best;  ///< nothing if none could be trained
  std::vector<int> kept_by;                ///< indices of the members whose smoother was kept
  std::vector<std::string> notes;
};

/// Trains the smoother that the options ask for on top of each member, and gives it to the members
/// for which it is worth having (smoother_choice.hpp). A smoother that breaks down (NumericalError)
/// is left out, and a note says so; the members themselves stay. A user may end training.
TrainedSmoothers train_smoothers(const TrainingContext& context, std::span<const Member> members);

}  // namespace kalmia::train
