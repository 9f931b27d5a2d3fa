#include "train/member_smoothers.hpp"

#include <utility>

#include "kalmia/error.hpp"
#include "train/smoother_choice.hpp"
#include "train/smoother_trainer.hpp"

namespace kalmia::train {
namespace {

bool is_better(const FitSmootherSummary& one, const FitSmootherSummary& other) {
  return one.kept && (!other.kept || one.held_out < other.held_out);
}

}  // namespace

TrainedSmoothers train_smoothers(const TrainingContext& context, std::span<const Member> members) {
  bool goes_on = true;
  TrainingContext watched = context;
  if (context.progress)
    watched.progress = [&](FitProgress& now) { return goes_on = context.progress(now); };
  TrainedSmoothers result;
  double seconds = 0;
  for (std::size_t j = 0; j < members.size() && goes_on; ++j) {
    const Member& member = members[j];
    const TrainingContext own_context =
        watched.of_member(member.index, static_cast<int>(j) + 1, static_cast<int>(members.size()));
    try {
      FitSmootherSummary own = choose_smoother(
          own_context, *member.model, train_smoother(own_context, *member.model, member.held_out));
      seconds += own.seconds;
      if (own.kept) result.kept_by.push_back(member.index);
      if (!result.best || is_better(own, *result.best)) result.best = std::move(own);
    } catch (const NumericalError& error) {
      member.model->set_smoother({}, {});
      result.notes.push_back("the " +
                             std::string(model::smoother_name(*context.spec.model.smoother)) +
                             " smoother could not be trained, so that the linearized one serves (" +
                             error.what() + ")");
    }
  }
  if (result.best) result.best->seconds = seconds;
  return result;
}

}  // namespace kalmia::train
