#include "train/smoother_trainer.hpp"

#include "model/smoothers.hpp"
#include "train/fusion_trainer.hpp"
#include "train/two_sided_trainer.hpp"

namespace kalmia::train {

FitSmootherSummary train_smoother(const TrainingContext& context, model::LearnedModel<float>& model,
                                  double filter_held_out) {
  const FitSpec& spec = context.spec;
  const model::SmootherEntry& smoother = model::smoother_entry(spec.model.smoother.value());
  const bool two_sided = smoother.two_sided;
  const auto make_stage = two_sided ? two_sided_stage : fusion_stage;
  const std::unique_ptr<SmootherStage> stage =
      make_stage(model, context.data, context.split, spec, context.team);
  LoopOptions loop;
  loop.stage = "smoother";
  loop.updates = spec.train.updates > 0
                     ? spec.train.updates
                     : default_updates(stage->training_steps(), stage->steps_per_update());
  loop.from_scratch = two_sided;
  loop.start_loss = stage->filter_loss(filter_held_out);
  loop.too_good = [&](double held_out) { return context.bound.is_beaten_by(held_out); };
  const LoopResult result = run_training(*stage, spec.train, loop, context.progress);
  stage->finish(result.best_update > 0);
  FitSmootherSummary summary;
  summary.kind = smoother.name;
  summary.kept = result.best_update > 0;
  summary.stop_reason = result.stop_reason;
  summary.updates = result.updates;
  summary.best_update = result.best_update;
  summary.held_out = result.best_held_out;
  summary.seconds = result.seconds;
  return summary;
}

}  // namespace kalmia::train
