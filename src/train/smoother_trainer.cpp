#include "train/smoother_trainer.hpp"

#include "train/fusion_trainer.hpp"
#include "train/summary.hpp"
#include "train/two_sided_trainer.hpp"

namespace kalmia::train {

void train_smoother(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                    const FitOptions& options, ThreadTeam& team,
                    const std::function<bool(FitProgress&)>& progress, FitSummary& summary) {
  const std::unique_ptr<SmootherStage> stage =
      options.model.smoother == "fused" ? fusion_stage(model, data, split, options, team)
                                        : two_sided_stage(model, data, split, options, team);
  LoopOptions loop;
  loop.stage = "smoother";
  loop.updates = options.train.updates > 0
                     ? options.train.updates
                     : default_updates(stage->training_steps(), stage->steps_per_update());
  loop.from_scratch = options.model.smoother != "fused";
  loop.start_loss = stage->filter_loss(summary.best_held_out);
  loop.too_good = [&](double held_out) { return predicts_noise(held_out, summary); };
  const LoopResult result = run_training(*stage, options.train, loop, progress);
  stage->finish(result.best_update > 0);
  summary.smoother = result.best_update > 0;
  summary.smoother_kind = options.model.smoother;
  summary.smoother_updates = result.updates;
  summary.smoother_best_update = result.best_update;
  summary.smoother_held_out = result.best_held_out;
  summary.smoother_seconds = result.seconds;
  summary.smoother_stop_reason = result.stop_reason;
}

}  // namespace kalmia::train
