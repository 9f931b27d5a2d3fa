#include "train/prior_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kalmia/error.hpp"
#include "model/outliers.hpp"
#include "model/smoothers.hpp"
#include "prior/parts_text.hpp"
#include "train/first_description.hpp"
#include "train/part_search.hpp"
#include "train/state_climate.hpp"
#include "train/tails.hpp"
#include "train/use_scores.hpp"

namespace kalmia::train {
namespace {

// Steps that the search for parts fits each sum to: of one channel, of each of several.
constexpr int kSumSteps = 1 << 13;
constexpr int kFewestSumSteps = 1 << 11;
constexpr int kThoroughSteps = 1 << 16;
// With this share of outliers in some channel, heavy tails are tried, and the search for parts
// leaves outliers out.
constexpr double kOutlierShare = 0.003;
// Polynomial departures are tried of models with at most so many coefficients.
constexpr int kLargestDegree = 4;
constexpr double kMostCoefficients = 200;
constexpr int kMostSumStates = 4;
// Degrees are fitted to all data whose loss on a part of them is no higher than the least by more.
constexpr double kAboutAsGood = 0.03;
// Where a map is nearly right the state is known much better than a measurement, and what little of
// that shows in the losses counts by its whole weight, up to this.
constexpr double kMostOfGoodMap = 100;
// Polynomials are added to a map that a search found if held-out loss falls by more than this.
constexpr double kWorthPolynomials = 0.1;
// A search for departures gives up after so many degrees that are no better.
constexpr int kMostInVain = 2;

std::vector<prior::ExpertSpec> candidates_of(const FitContext& fit) {
  const model::ModelSpec& spec = fit.spec.model;
  const std::vector<prior::WrittenPart>& parts = spec.written_parts();
  if (std::holds_alternative<model::SumPrior>(spec.prior))
    return {spec.expert(prior::parts_in_steps(parts, step_length(fit)))};
  const auto with_parts = [&](prior::PriorKind kind) {
    prior::ExpertSpec expert = spec.expert(kind);
    if (!parts.empty())
      expert.parts = prior::parts_in_steps(parts, step_length(fit), prior::Alone::No);
    return expert;
  };
  if (const auto* named = std::get_if<model::NamedPrior>(&spec.prior))
    return {with_parts(named->kind)};
  if (std::holds_alternative<model::WrittenPrior>(spec.prior))
    return {with_parts(prior::PriorKind::System)};
  std::vector<prior::ExpertSpec> all;
  for (const prior::PriorKind kind : prior::automatic_priors(fit.channels.size()))
    all.push_back(spec.expert(kind));
  return all;
}

std::unique_ptr<ScaledData> scaled(const FitContext& fit,
                                   const model::ModelDescription& description) {
  auto data = std::make_unique<ScaledData>(fit.data.all(), description.units, description.dt);
  data->set_weights(fit.data.all(), description.noise_std);
  return data;
}

// `from`: where the search begins, of the same states; null: as usual.
ChosenPrior fitted(const FitContext& fit, const prior::ExpertSpec& spec,
                   const StaticResult* from = nullptr, Care care = Care::Full) {
  const model::ModelDescription description = first_description(fit, spec);
  ChosenPrior chosen;
  chosen.data = scaled(fit, description);
  BestStatic best = fit_best_static(fit, description, *chosen.data, from, care);
  chosen.fitted = std::move(best.fitted);
  chosen.score = best.score;
  chosen.kept = std::move(best.kept);
  return chosen;
}

// A sum of what was found for its channels, as it was found.
ChosenPrior taken_from(const FitContext& fit, const prior::ExpertSpec& spec,
                       const std::vector<StaticResult>& channels) {
  const model::ModelDescription description = first_description(fit, spec);
  ChosenPrior chosen;
  chosen.data = scaled(fit, description);
  BestStatic found = as_found(fit, joined(description, channels), *chosen.data);
  chosen.fitted = std::move(found.fitted);
  chosen.score = found.score;
  return chosen;
}

// The same, fitted once more to all channels together.
ChosenPrior fitted_from(const FitContext& fit, const prior::ExpertSpec& spec,
                        const std::vector<StaticResult>& channels) {
  const StaticResult start = joined(first_description(fit, spec), channels);
  return fitted(fit, spec, &start);
}

// The best of the candidates by held-out loss.
ChosenPrior best_predictor(const FitContext& fit,
                           const std::vector<prior::ExpertSpec>& candidates) {
  ChosenPrior chosen;
  for (const prior::ExpertSpec& candidate : candidates) {
    if (fit.report.stopped()) break;
    const std::string name = prior::prior_text(candidate, step_length(fit));
    std::string comparison = chosen.comparison + (chosen.comparison.empty() ? "" : ", ");
    const bool first = chosen.data == nullptr;
    try {
      ChosenPrior one = fitted(fit, candidate);
      comparison += fmt::format("{} {:.4f}", name, one.score);
      if (first || one.score < chosen.score) chosen = std::move(one);
    } catch (const NumericalError&) {
      if (first && (fit.report.stopped() || &candidate == &candidates.back())) throw;
      comparison += name + " broke down";
    }
    chosen.comparison = std::move(comparison);
  }
  return chosen;
}

// Scores over the stretches. `targets`: what is to be predicted, in the user's units.
TriedModel scored_on(const FitContext& fit, const ChosenPrior& chosen,
                     const std::vector<StepRange>& stretches, const std::string& what,
                     const Dataset& targets, LeftOut left_out = LeftOut::Exactly) {
  const double period = model::expert_of(chosen.fitted.description).longest_period;
  const model::ModelDescription& description = chosen.fitted.description;
  const ScaledData to_predict(targets, description.units, description.dt);
  const UseData data(*chosen.data, stretches, period, usual_runs(*chosen.data), &to_predict);
  return {what, data.score(*chosen.fitted.alone<float>(), left_out, fit.team),
          chosen.fitted.free_parameters / fit.holdout.values, false};
}

// The same over all data, held out or not.
TriedModel scored(const FitContext& fit, const ChosenPrior& chosen, const std::string& what,
                  const Dataset& targets, LeftOut left_out = LeftOut::Exactly) {
  std::vector<StepRange> all;
  for (int s = 0; s < chosen.data->series_count(); ++s) all.push_back(chosen.data->series(s));
  return scored_on(fit, chosen, all, what, targets, left_out);
}

// Takes `other` where it is better, and remembers that it was tried.
bool take_better(const FitContext& fit, ChosenPrior other, const std::string& what,
                 const Dataset& targets, TriedModel& best, ChosenPrior& chosen,
                 LeftOut left_out = LeftOut::Exactly) {
  TriedModel tried = scored(fit, other, what, targets, left_out);
  const UseWeights weights = weights_of(best.scores, fit.spec.model.purpose);
  const bool better = std::isfinite(tried.loss()) && is_better(tried, best, weights);
  tried.kept = better;
  std::vector<FitCandidate> search = std::move(chosen.search);
  search.push_back(tried.summary());
  if (better) {
    best = std::move(tried);
    other.automatic = chosen.automatic;
    other.predictor = std::move(chosen.predictor);
    chosen = std::move(other);
  }
  chosen.search = std::move(search);
  return better;
}

// The share of the values that are missing in `without`.
double outlier_share(const Dataset& with, const Dataset& without) {
  double values = 0, missing = 0;
  for (std::size_t s = 0; s < with.series.size(); ++s)
    for (std::size_t i = 0; i < with.series[s].y.size(); ++i) {
      if (std::isnan(with.series[s].y[i])) continue;
      values += 1;
      missing += std::isnan(without.series[s].y[i]);
    }
  return missing / std::max(values, 1.0);
}

bool may_have_tails(const FitContext& fit) {
  const model::SmootherEntry* smoother = fit.spec.model.trained_smoother();
  return std::holds_alternative<model::AutomaticTails>(fit.spec.model.tails) &&
         !(smoother != nullptr && smoother->linear_gaussian);
}

// A sum of parts of each channel, found channel by channel.
ChosenPrior searched_sum(const FitContext& fit, bool& outliers) {
  const std::size_t M = fit.channels.size();
  const bool thorough = fit.spec.model.effort == model::Effort::Thorough;
  const int steps =
      thorough ? kThoroughSteps : std::max(kFewestSumSteps, kSumSteps / static_cast<int>(M));
  std::vector<prior::Part> parts, predictors;
  std::vector<StaticResult> models, predictor_models;
  std::vector<FitCandidate> search;
  for (std::size_t m = 0; m < M; ++m) {
    const FitData raw = fit.data.of_channel(m, true);
    const FitData clean = fit.data.of_channel(m, false);
    const bool spoilt =
        may_have_tails(fit) && outlier_share(raw.training(), clean.training()) > kOutlierShare;
    outliers = outliers || spoilt;
    const FitContext channel(fit, spoilt ? clean : raw, m);
    const FitContext whole(fit, raw, m);
    const model::ModelDescription any =
        first_description(whole, fit.spec.model.expert(std::vector<prior::Part>{{}}));
    const auto all_scaled = scaled(whole, any);
    FoundSum found = search_parts(channel, steps, usual_runs(*all_scaled));
    for (const TriedModel& each : found.tried) {
      search.push_back(each.summary());
      if (M > 1) search.back().what = fit.data.training().y_names[m] + ": " + search.back().what;
    }
    const auto add = [&](const std::vector<prior::Part>& own, std::vector<prior::Part>& all) {
      for (prior::Part part : own) {
        if (M > 1) part.channel = static_cast<int>(m);
        all.push_back(part);
      }
    };
    add(found.parts, parts);
    add(found.predictor, predictors);
    models.push_back(std::move(found.fitted));
    predictor_models.push_back(std::move(found.predictor_fitted));
  }
  ChosenPrior chosen = taken_from(fit, fit.spec.model.expert(parts), models);
  chosen.search = std::move(search);
  if (parts != predictors && fit.spec.model.networks.any() && !fit.little_data())
    chosen.predictor = std::make_unique<ChosenPrior>(
        taken_from(fit, fit.spec.model.expert(predictors), predictor_models));
  return chosen;
}

// Whether the noise of channels may be correlated, which they did not know that were searched one
// by one.
bool may_be_correlated(const FitContext& fit, const ChosenPrior& chosen) {
  return fit.channels.size() > 1 && chosen.fitted.description.prior.kind == prior::PriorKind::Sum &&
         model::expert_of(chosen.fitted.description).state_dim() <= kMostCorrelated;
}

void try_together(const FitContext& fit, const Dataset& targets, TriedModel& best,
                  ChosenPrior& chosen) {
  try {
    ChosenPrior other = fitted_from(fit, chosen.fitted.description.prior, {chosen.fitted});
    take_better(fit, std::move(other), best.what + ", fitted together", targets, best, chosen);
  } catch (const NumericalError&) {
  }
}

// Whether polynomials may be added to the map of a model. Who asks for a smoother, several members
// or a filter without a map wants networks, which a map that has learned its own error leaves out.
// Who adds parts to equations says what these leave out; polynomials could do the same as the
// parts, and what each adds would be lost. Measured on Lorenz's system with sensors that drift,
// rk4, mean square error of the equations' share: 0.003 to 0.009, with polynomials 0.07 to 0.5.
bool may_depart(const FitContext& fit, const ChosenPrior& chosen) {
  const model::NetworkSpec& networks = fit.spec.model.networks;
  if (networks.any() &&
      (!networks.recursive() || networks.members > 1 || fit.spec.model.smoother.has_value()))
    return false;
  const model::DepartureSpec& given = fit.spec.model.departure;
  const prior::ExpertSpec& spec = chosen.fitted.description.prior;
  if (given.std || given.degree > 1 || spec.departure > 0 || spec.degree > 1) return false;
  if (prior::adds_parts(spec)) return false;
  if (spec.kind == prior::PriorKind::Sum)
    return chosen.automatic &&
           model::expert_of(chosen.fitted.description).state_dim() <= kMostSumStates &&
           std::ranges::all_of(spec.parts, [](const prior::Part& part) {
             return part.kind == prior::PartKind::DampedVelocity ||
                    part.kind == prior::PartKind::Oscillator;
           });
  return prior::prior_entry(spec.kind).family == prior::PriorFamily::Physical;
}

double coefficients(double states, int degree) {
  double terms = 1;
  for (int d = 1; d <= degree; ++d) terms *= (states + d) / d;
  return states * terms;
}

// Predictions through gaps tend to the climate, which keeps polynomials from running away where
// there were no data.
void add_climate(const FitContext& fit, ChosenPrior& chosen) {
  chosen.fitted.description.climate =
      find_climate(*chosen.fitted.alone<float>(), *chosen.data, fit.split().training, fit.team);
}

// Each degree is tried on a part of the data. Those that are about as good as the best there are
// then fitted to all of them, where more coefficients are known; from the beginning, since a search
// that begins at what a part of the data taught ends in a worse maximum.
void try_departures(const FitContext& fit, const Dataset& targets, TriedModel& best,
                    ChosenPrior& chosen) {
  const double N = model::expert_of(chosen.fitted.description).state_dim();
  const prior::ExpertSpec plain = chosen.fitted.description.prior;
  const auto of_degree = [&](int degree) {
    prior::ExpertSpec spec = fit.spec.model.expert(plain.kind, degree);
    spec.parts = plain.parts;
    return spec;
  };
  const auto text = [&](int degree) {
    return fmt::format("{} + polynomials of degree {}", prior::prior_text(plain, step_length(fit)),
                       degree);
  };
  // A map of physics is right but for its error. Of one that a search found polynomials are beside
  // the point, unless data that nothing was fitted to say the same.
  const bool doubted = chosen.automatic && !fit.little_data();
  const auto held_out = [&](const ChosenPrior& each) {
    return scored_on(fit, each, held_out_ranges(fit.split()), "", targets);
  };
  std::optional<TriedModel> before;
  if (doubted) before = held_out(chosen);
  const auto is_doubtful = [&](const ChosenPrior& each) {
    if (!before) return false;
    const TriedModel after = held_out(each);
    const UseWeights weights = weights_of(before->scores, fit.spec.model.purpose);
    return !is_better(after, *before, weights) ||
           !(before->loss(weights) - after.loss(weights) > kWorthPolynomials);
  };
  std::vector<std::pair<int, double>> glances;  // degree and loss
  int in_vain = 0;
  for (int degree = 2; degree <= kLargestDegree && in_vain < kMostInVain; ++degree) {
    if (coefficients(N, degree) > kMostCoefficients || fit.report.stopped()) break;
    ++in_vain;
    try {
      ChosenPrior glance = fitted(fit, of_degree(degree), nullptr, Care::Glance);
      add_climate(fit, glance);
      if (is_doubtful(glance)) continue;
      if (take_better(fit, std::move(glance), text(degree), targets, best, chosen)) in_vain = 0;
      glances.emplace_back(degree, chosen.search.back().loss);
    } catch (const NumericalError&) {
    }
  }
  if (chosen.fitted.description.prior.degree <= 1) return;
  const double good = best.loss() + kAboutAsGood;
  for (const auto& [degree, loss] : glances) {
    if (fit.report.stopped() || loss > good) continue;
    try {
      ChosenPrior whole = fitted(fit, of_degree(degree));
      add_climate(fit, whole);
      TriedModel tried = scored(fit, whole, text(degree) + ", on all data", targets);
      const UseWeights weights = weights_of(best.scores, fit.spec.model.purpose, kMostOfGoodMap);
      tried.kept = tried.loss(weights) <= best.loss(weights);
      chosen.search.push_back(tried.summary());
      if (!tried.kept) continue;
      whole.automatic = chosen.automatic;
      whole.search = std::move(chosen.search);
      chosen = std::move(whole);
      best = std::move(tried);
    } catch (const NumericalError&) {
    }
  }
}

// Student's t with the degrees of freedom that the whole data ask for, outliers among them; all
// else as it was found without them. What an update added to a state can be taken out of it exactly
// only if its noise is Gaussian, so that both models are asked for hidden values.
void try_tails(const FitContext& fit, const Dataset& targets, TriedModel& best,
               ChosenPrior& chosen) {
  FitSpec heavy = fit.spec;
  heavy.model.tails = model::LearnedTails{};
  const FitContext robust(fit.data, heavy, fit.data_options, fit.team, fit.report);
  try {
    const double degrees_of_freedom =
        fit_tails(*chosen.fitted.alone<float>(), *chosen.data, fit.split().training, fit.team);
    ChosenPrior other;
    other.data = scaled(robust, chosen.fitted.description);
    BestStatic found =
        as_found(robust, with_tails(chosen.fitted, degrees_of_freedom, robust.channels, fit.noise),
                 *other.data);
    other.fitted = std::move(found.fitted);
    other.score = found.score;
    TriedModel gaussian =
        scored(fit, chosen, best.what + ", values hidden", targets, LeftOut::Hidden);
    gaussian.kept = true;
    chosen.search.push_back(gaussian.summary());
    const std::string what = best.what + ", heavy tails";
    best = std::move(gaussian);
    take_better(fit, std::move(other), what, targets, best, chosen, LeftOut::Hidden);
  } catch (const NumericalError&) {
  }
}

}  // namespace

ChosenPrior choose_prior(const FitContext& fit) {
  const model::ModelSpec& spec = fit.spec.model;
  const bool automatic = std::holds_alternative<model::AutomaticPrior>(spec.prior);
  bool outliers = false;
  ChosenPrior chosen = automatic && spec.searches() ? searched_sum(fit, outliers)
                                                    : best_predictor(fit, candidates_of(fit));
  chosen.automatic = automatic;
  const bool together = automatic && may_be_correlated(fit, chosen);
  if (spec.searches() && (outliers || together || may_depart(fit, chosen)) &&
      !fit.report.stopped()) {
    Dataset targets = fit.data.all();
    if (outliers) targets = model::isolated_outliers_missing(std::move(targets));
    TriedModel best = scored(
        fit, chosen, prior::prior_text(chosen.fitted.description.prior, step_length(fit)), targets);
    best.kept = true;
    chosen.search.push_back(best.summary());
    // Fitted together, outliers would be in the data again, and the noise Gaussian.
    if (together && !outliers) try_together(fit, targets, best, chosen);
    if (may_depart(fit, chosen)) try_departures(fit, targets, best, chosen);
    if (outliers) try_tails(fit, targets, best, chosen);
  }
  const model::ModelDescription& found = chosen.fitted.description;
  if (found.tails > 0 || found.prior.degree > 1) chosen.predictor.reset();
  for (ChosenPrior* each : {&chosen, chosen.predictor.get()})
    if (each != nullptr) add_climate(fit, *each);
  return chosen;
}

}  // namespace kalmia::train
