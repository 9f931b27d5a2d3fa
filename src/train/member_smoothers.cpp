#include "train/member_smoothers.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "infer/leak.hpp"
#include "infer/risk.hpp"
#include "kalmia/error.hpp"
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

namespace {

// A value moved for a measurement of the smoother may be too much for it.
double unless_it_fails(const std::function<double()>& measure) {
  try {
    return measure();
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

FitSmootherSummary choose_smoother(const TrainingContext& context,
                                   model::LearnedModel<float>& model, FitSmootherSummary trained) {
  if (!trained.kept) return trained;
  const std::vector<HeldOut>& held_out = context.split.held_out;
  const std::vector<infer::SeriesView> pieces = views_with_future(context.data, held_out);
  trained.leak = unless_it_fails([&] { return infer::measure_leak(model, pieces, context.team); });
  std::vector<infer::ScoredSteps> counted;
  for (const HeldOut& each : held_out)
    counted.push_back({each.score_from - each.stretch.begin, each.stretch.steps()});
  const auto risk = [&](infer::RiskOf smoother) {
    return unless_it_fails([&] {
      return infer::estimated_risk(model, pieces, counted, smoother, context.team).error;
    });
  };
  trained.risk = risk(infer::RiskOf::Networks);
  trained.linearized_risk = risk(infer::RiskOf::Linearized);
  // Networks that fail where the linearized smoother does not are no better.
  trained.kept = context.spec.model.keep_smoother || std::isnan(trained.linearized_risk) ||
                 trained.risk < trained.linearized_risk;
  if (!trained.kept) model.set_smoother({}, {});
  return trained;
}

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
