#include "train/prior_choice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "kalmia/error.hpp"
#include "train/first_description.hpp"
#include "train/state_climate.hpp"
#include "train/tails.hpp"

namespace kalmia::train {
namespace {

std::vector<prior::ExpertSpec> candidates_of(const FitContext& fit) {
  const model::ModelSpec& spec = fit.spec.model;
  if (const auto* sum = std::get_if<model::SumPrior>(&spec.prior))
    return {spec.expert(prior::parts_in_steps(sum->parts, step_length(fit)))};
  if (const auto* named = std::get_if<model::NamedPrior>(&spec.prior))
    return {spec.expert(named->kind)};
  if (std::holds_alternative<model::WrittenPrior>(spec.prior))
    return {spec.expert(prior::PriorKind::System)};
  std::vector<prior::ExpertSpec> all;
  for (const prior::PriorKind kind :
       prior::automatic_priors(fit.data.training().y_names.size()))
    all.push_back(spec.expert(kind));
  return all;
}

// With fewer values, static models are tried too whose process noise is regularised: noise below
// these shares of the usual step counts as suspiciously small.
constexpr double kFewValues = 5000;
constexpr double kSmallNoise[] = {1, 10};
// They have to be better on held-out data by this much, for what is most likely is the better
// guess.
constexpr double kClearlyBetter = 0.01;

// The static model of one expert map, and how good it is.
struct BestStatic {
  StaticResult fitted;
  double score = 0;
  std::string kept;  // as in ChosenPrior
};

double score_of(const FitContext& fit, const StaticResult& fitted, const ScaledData& data) {
  if (!fit.little_data())
    return held_out_loss(*fitted.alone<float>(), data, fit.split().held_out, fit.team);
  return fitted.training_loss + fitted.free_parameters / fit.holdout.values;
}

StaticOptions reporting_options(const FitContext& fit, const std::string& prior) {
  StaticOptions options;
  options.go_on = [&fit, prior](int iteration, int most, double loss) {
    FitProgress now;
    now.stage = "static " + prior;
    now.update = iteration;
    now.updates = most;
    now.loss = loss;
    now.held_out = now.best_held_out = std::numeric_limits<double>::quiet_NaN();
    now.seconds_left = std::numeric_limits<double>::quiet_NaN();
    return fit.report(now);
  };
  return options;
}

StaticResult fitted_with(const FitContext& fit, const model::ModelDescription& description,
                         const ScaledData& data, const StaticOptions& options) {
  return fit_static(description, fit.channels, fit.noise, data, fit.split().training, fit.team,
                    options);
}

// The noise of few data may be larger than what makes them most likely.
BestStatic with_larger_noise(const FitContext& fit, const model::ModelDescription& description,
                             const ScaledData& data, StaticOptions options, BestStatic best) {
  for (const double share : kSmallNoise) {
    if (fit.report.stopped() || fit.holdout.values > kFewValues) break;
    options.small_noise = share;
    try {
      StaticResult regularised = fitted_with(fit, description, data, options);
      const double score = score_of(fit, regularised, data);
      if (score < best.score - kClearlyBetter) best = {std::move(regularised), score, {}};
    } catch (const NumericalError&) {
      continue;  // there is a good one
    }
  }
  return best;
}

// What makes the training data most likely may predict worse than what the search began with: a
// search can be lost among constants of equations that make a filter lose its way. (With a named
// prior it means that the held-out part is unlike the rest.)
BestStatic or_its_start(const FitContext& fit, const model::ModelDescription& description,
                        const ScaledData& data, StaticOptions options, BestStatic learned) {
  StaticResult start =
      begin_static(description, fit.channels, fit.noise, data, fit.split().training);
  const double began = score_of(fit, start, data);
  if (!(began < learned.score)) return learned;
  const auto why = [score = learned.score](const char* what, double loss) {
    return fmt::format("{}: held-out loss {:.4f}, with what was learned {:.4f}", what, loss, score);
  };
  BestStatic best{std::move(start), began, why("the static model stays as it began", began)};
  if (learned_parameters(description).empty() || fit.report.stopped()) return best;
  options.constants = Constants::Held;
  try {
    StaticResult held = fitted_with(fit, description, data, options);
    const double loss = score_of(fit, held, data);
    if (loss < best.score)
      best = {std::move(held), loss, why("the constants stay where they began", loss)};
  } catch (const NumericalError&) {
    return best;
  }
  return best;
}

// Fits the static model of `description`, and where `tails` are to be learned those too. Then, as
// long as the user does not stop the fit and there are data to hold out:
// - With few data, fits with regularised process noise, which may predict better than what makes
//   the data most likely.
// - With a user's equations, where the search began. The best of three stays: the result; noise
//   that is fitted with the constants as they began; all as it began.
// Throws NumericalError if not even the first could be computed.
BestStatic fit_best_static(const FitContext& fit, model::ModelDescription description,
                           const ScaledData& data) {
  const StaticOptions options =
      reporting_options(fit, prior::prior_text(description.prior, step_length(fit)));
  StaticResult first = fitted_with(fit, description, data, options);
  if (std::holds_alternative<model::LearnedTails>(fit.spec.model.tails) && !fit.report.stopped()) {
    description.tails = fit_tails(*first.alone<float>(), data, fit.split().training, fit.team);
    first = fitted_with(fit, description, data, options);
  }
  const double score = score_of(fit, first, data);
  BestStatic best{std::move(first), score, {}};
  if (fit.little_data() || fit.report.stopped()) return best;
  best = with_larger_noise(fit, description, data, options, std::move(best));
  if (description.prior.kind == prior::PriorKind::System && !fit.report.stopped())
    best = or_its_start(fit, description, data, options, std::move(best));
  return best;
}

}  // namespace

ChosenPrior choose_prior(const FitContext& fit) {
  const std::vector<prior::ExpertSpec> candidates = candidates_of(fit);
  ChosenPrior chosen;
  chosen.automatic = std::holds_alternative<model::AutomaticPrior>(fit.spec.model.prior);
  for (const prior::ExpertSpec& candidate : candidates) {
    if (fit.report.stopped()) break;
    const std::string name = prior::prior_text(candidate, step_length(fit));
    const model::ModelDescription description = first_description(fit, candidate);
    auto scaled = std::make_unique<ScaledData>(fit.data.all(), description.units, description.dt);
    scaled->set_weights(fit.data.all(), description.noise_std);
    if (!chosen.comparison.empty()) chosen.comparison += ", ";
    const bool first = chosen.data == nullptr;
    try {
      BestStatic best = fit_best_static(fit, description, *scaled);
      chosen.comparison += fmt::format("{} {:.4f}", name, best.score);
      if (!first && !(best.score < chosen.score)) continue;
      chosen.fitted = std::move(best.fitted);
      chosen.data = std::move(scaled);
      chosen.score = best.score;
      chosen.kept = std::move(best.kept);
    } catch (const NumericalError&) {
      if (first && (fit.report.stopped() || &candidate == &candidates.back())) throw;
      chosen.comparison += name + " broke down";
    }
  }
  chosen.fitted.description.climate =
      find_climate(*chosen.fitted.alone<float>(), *chosen.data, fit.split().training, fit.team);
  return chosen;
}

std::vector<Parameter> learned_parameters(const model::ModelDescription& description) {
  std::vector<Parameter> learned;
  const prior::Expert expert = model::expert_of(description);
  for (std::size_t i = 0; i < expert.parameters.size(); ++i) {
    if (!expert.parameters[i].learn || std::isfinite(expert.parameters[i].prior_std)) continue;
    learned.push_back(expert.parameters[i]);
    if (!description.theta.empty()) learned.back().value = description.theta[i];
  }
  return learned;
}

}  // namespace kalmia::train
