// kalmia::fit: from data to a model, stage by stage.
#include "kalmia/fit.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "infer/model_impl.hpp"
#include "kalmia/error.hpp"
#include "train/calibration.hpp"
#include "train/first_description.hpp"
#include "train/fit_context.hpp"
#include "train/fit_data.hpp"
#include "train/fit_notes.hpp"
#include "train/fit_options.hpp"
#include "train/found_parts.hpp"
#include "train/member_smoothers.hpp"
#include "train/members.hpp"
#include "train/prior_choice.hpp"
#include "train/summary.hpp"
#include "train/use_settings.hpp"

namespace kalmia {
namespace {

using train::FitContext;

void add(train::Notes notes, FitSummary& summary) {
  for (std::string& note : notes) summary.notes.push_back(std::move(note));
}

FitDataSummary data_summary(const FitContext& fit, const train::ChosenPrior& chosen,
                            const train::NoiseBound& bound) {
  return {.training_steps = fit.holdout.training_steps(),
          .held_out_steps = fit.holdout.held_out_steps(),
          .empty_end_steps = fit.data.empty_end_steps(),
          .degrees_of_freedom = train::degrees_of_freedom(fit, chosen.fitted),
          .noise_bound = bound.loss};
}

FitStaticSummary static_summary(const FitContext& fit, const train::ChosenPrior& chosen) {
  return {.prior = prior::prior_text(chosen.fitted.description.prior, train::step_length(fit)),
          .prior_chosen = chosen.automatic,
          .training = chosen.fitted.training_loss,
          .held_out = chosen.score,
          .parameters = train::examined_parameters(chosen.fitted),
          .search = chosen.search,
          .found = train::found_text(chosen.fitted, train::step_length(fit)),
          .seconds = fit.report.seconds()};
}

// The networks, from one seed or several, or why there are none.
train::TrainedMembers members_of(const FitContext& fit, const train::TrainingContext& training,
                                 const train::ChosenPrior& chosen) {
  const auto without = [&](StopReason reason) {
    train::TrainedMembers none;
    none.held_out = none.networks.held_out = chosen.score;
    none.networks.stop_reason = reason;
    return none;
  };
  if (!fit.spec.model.networks.any()) return without(StopReason::NoNetworks);
  if (fit.little_data()) return without(StopReason::LittleData);
  // A map that learned its own error leaves nothing to networks but the noise.
  const prior::ExpertSpec& prior = chosen.fitted.description.prior;
  if (fit.spec.model.searches() && prior.degree > fit.spec.model.departure.degree)
    return without(StopReason::MapLearned);
  if (training.bound.is_beaten_by(chosen.score)) return without(StopReason::NoisePredicted);
  return train::train_members(training, chosen.fitted, fit.noise, chosen.score);
}

// A season of the calendar goes on for certain, and networks on a map without it forget it in a
// longer forecast than held-out data can show.
bool knows_the_calendar(const FitContext& fit, const train::StaticResult& fitted) {
  return fit.data.training().time_kind == TimeKind::Date &&
         std::ranges::any_of(fitted.description.prior.parts, [](const prior::Part& part) {
           return part.kind == prior::PartKind::Season;
         });
}

// Whether networks on top of a model take a time that is worth trying them.
bool few_states(const FitContext& fit, const train::StaticResult& fitted) {
  constexpr std::size_t kMostStatesOfChannel = 4;
  return fitted.initial_e.size() <= kMostStatesOfChannel * fit.channels.size();
}

Model model_of(model::Ensemble ensemble) {
  return Model(std::make_shared<Model::Impl>(std::move(ensemble)));
}

bool wants_smoother(const FitContext& fit) {
  const model::ModelSpec& model = fit.spec.model;
  return model.smoother && model.networks.any() && !fit.little_data();
}

// `options`: what `spec` was read from, for the model file.
FitResult fit_checked(const train::FitData& data, const train::FitSpec& spec,
                      const FitOptions& options, const DataOptions& data_options,
                      const std::function<bool(const FitProgress&)>& progress) {
  ThreadTeam team(spec.train.threads);
  train::ProgressReport report(progress);
  const FitContext fit(data, spec, data_options, team, report);
  FitSummary summary;
  add(train::data_notes(data), summary);

  // The static model: an expert map, and constant noise.
  train::ChosenPrior chosen = train::choose_prior(fit);
  if (report.stopped()) throw Interrupted("the fit was stopped before its static model was done");
  const train::NoiseBound bound = train::find_noise_bound(
      fit.noise, chosen.fitted.description.tails, data.all(), fit.split().held_out);

  // Networks are trained on top of it, or of what predicts best, and a smoother on top of these.
  const auto training_of = [&](const train::ChosenPrior& prior) {
    return train::TrainingContext{
        *prior.data, fit.split(), spec, team, [&](FitProgress& now) { return report(now); }, bound};
  };
  std::optional<train::TrainedMembers> of_predictor;
  if (chosen.predictor && !knows_the_calendar(fit, chosen.fitted) && !report.stopped())
    of_predictor = members_of(fit, training_of(*chosen.predictor), *chosen.predictor);
  if (of_predictor && !of_predictor->members.empty() &&
      train::better_in_use(training_of(*chosen.predictor), *of_predictor->members[0].model,
                           training_of(chosen), chosen.fitted)) {
    const std::unique_ptr<train::ChosenPrior> predictor = std::move(chosen.predictor);
    std::swap(predictor->search, chosen.search);
    predictor->automatic = true;
    chosen = std::move(*predictor);
  } else if (of_predictor && !few_states(fit, chosen.fitted)) {
    of_predictor->members.clear();
    of_predictor->networks.kept = false;
    of_predictor->held_out = of_predictor->networks.held_out = chosen.score;
  } else {
    of_predictor.reset();
  }
  add(train::static_notes(fit, chosen), summary);
  summary.data = data_summary(fit, chosen, bound);
  summary.static_model = static_summary(fit, chosen);
  const train::TrainingContext training = training_of(chosen);
  train::TrainedMembers trained =
      of_predictor ? std::move(*of_predictor) : members_of(fit, training, chosen);
  add(std::move(trained.notes), summary);
  summary.best_held_out = trained.held_out;
  summary.networks = std::move(trained.networks);
  summary.ensemble = std::move(trained.ensemble);
  std::vector<train::Member> members = std::move(trained.members);
  if (members.empty()) members.push_back({0, chosen.fitted.alone<float>(), trained.held_out});
  if (wants_smoother(fit) && !report.stopped()) {
    train::TrainedSmoothers smoothers = train::train_smoothers(training, members);
    add(std::move(smoothers.notes), summary);
    summary.smoother = std::move(smoothers.best);
    for (const int member : smoothers.kept_by)
      if (summary.ensemble)
        summary.ensemble->members[static_cast<std::size_t>(member)].smoother = true;
  }

  // Each member learns what it needs in use.
  for (train::Member& member : members) {
    if (report.stopped()) break;
    member.model->set_gap_trust(
        train::find_gap_trust(*member.model, *chosen.data, fit.split(), team));
    member.model->set_iterated_noise(
        train::find_iterated_noise(*member.model, *chosen.data, fit.split().training, team));
  }
  add(train::unused_notes(fit, chosen.fitted.description,
                          summary.networks.kept || summary.has_smoother()),
      summary);

  // The members together are the model.
  model::Ensemble ensemble;
  for (train::Member& member : members) ensemble.members.push_back(std::move(member.model));
  ensemble.data = train::columns_of(fit);
  if (spec.model.calibrate) {
    train::FoundCalibration found =
        train::calibrate(fit, model_of(ensemble), chosen.fitted.free_parameters);
    add(std::move(found.notes), summary);
    summary.calibration = std::move(found.factors);
    ensemble.calibration = found.calibration;
  }
  summary.message = train::message_of(spec.train, summary);
  ensemble.summary_json = train::stored_summary_json(options, summary);
  return {model_of(std::move(ensemble)), std::move(summary)};
}

}  // namespace

FitResult fit(const Dataset& data, const FitOptions& options, const DataOptions& data_options,
              const std::function<bool(const FitProgress&)>& progress) {
  const train::FitSpec spec = train::parse_options(options);
  return fit_checked(train::FitData(data, spec.model), spec, options, data_options, progress);
}

FitResult fit(const Dataset& data, const Dataset& validation, const FitOptions& options,
              const DataOptions& data_options,
              const std::function<bool(const FitProgress&)>& progress) {
  const train::FitSpec spec = train::parse_options(options);
  return fit_checked(train::FitData(data, validation, spec.model), spec, options, data_options,
                     progress);
}

}  // namespace kalmia
