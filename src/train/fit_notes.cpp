#include "train/fit_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kalman/matrix_checks.hpp"
#include "kalmia/text.hpp"
#include "model/filters.hpp"
#include "model/smoothers.hpp"
#include "train/first_description.hpp"
#include "train/fit_data.hpp"

namespace kalmia::train {
namespace {

// With fewer degrees of freedom left, the size of noise is known to less than a quarter of it.
constexpr double kFewestFree = 8;

// The likelihood of a recurrent model sees measured states alone; nothing else determines states.
Notes unmeasured_notes(const model::ModelSpec& spec, const model::ModelDescription& description) {
  const bool filter = !spec.networks.recursive();
  const model::SmootherEntry* smoother = spec.trained_smoother();
  const bool direct = smoother != nullptr && smoother->head == heads::HeadKind::Direct;
  if ((!filter && !direct) || !spec.networks.any()) return {};
  const prior::Expert expert = model::expert_of(description);
  if (expert.emission != nullptr) return {};
  const auto N = static_cast<std::size_t>(expert.state_dim());
  std::vector<std::string> unseen;
  for (std::size_t n = 0; n < N; ++n) {
    bool seen = false;
    for (std::size_t i = n; i < expert.H.size(); i += N) seen = seen || expert.H[i] != 0;
    if (!seen) unseen.push_back(expert.state_names[n]);
  }
  if (unseen.empty()) return {};
  const std::string what = filter
                               ? std::string(model::filter_name(spec.networks.filter)) + " filter"
                               : std::string(smoother->name) + " smoother";
  return {"a " + what + " estimates what is measured alone, not " + name_list(unseen)};
}

// The first values of a series go into where its states begin; how many there are beyond these.
double values_beyond_start(const FitContext& fit, const StaticResult& fitted) {
  const auto N = static_cast<double>(model::expert_of(fitted.description).state_dim());
  double beyond = 0;
  for (const Series& series : fit.data.training().series)
    beyond += std::max(0.0, static_cast<double>(std::ranges::count_if(
                                series.y, [](double y) { return !std::isnan(y); })) -
                                N);
  return beyond;
}

Notes freedom_notes(const FitContext& fit, const StaticResult& fitted) {
  const double left = degrees_of_freedom(fit, fitted);
  if (left >= kFewestFree) return {};
  const double values = fit.holdout.values;
  const std::string how_many = fmt::format(
      "too few data: {} measured values, less {} for the states that series begin with, less {} "
      "for what is learned",
      values, values - values_beyond_start(fit, fitted), fitted.free_parameters);
  if (left < 1)
    return {how_many + "; nothing is left to tell how wrong it is, and error bars mean nothing"};
  return {how_many +
          fmt::format("; the {} that are left tell the size of error bars to {:.0f} % only", left,
                      100 / std::sqrt(2 * left))};
}

// What is to be said of the constants of a user's equations.
Notes learned_notes(const ChosenPrior& chosen) {
  if (!chosen.kept.empty()) return {chosen.kept};
  if (chosen.fitted.description.prior.kind != prior::PriorKind::System) return {};
  return constant_notes(examined_parameters(chosen.fitted));
}

Notes prior_notes(const FitContext& fit, const ChosenPrior& chosen) {
  if (!chosen.automatic || chosen.comparison.empty()) return {};
  return {fmt::format("prior {} chosen by the {} loss ({})",
                      prior::prior_text(chosen.fitted.description.prior, step_length(fit)),
                      fit.little_data() ? "penalised" : "held-out", chosen.comparison)};
}

}  // namespace

Notes data_notes(const FitData& data) {
  Notes notes;
  const std::size_t rows = data.empty_end_steps();
  if (rows == 1)
    notes.push_back("1 row without measurements at the end of a series was not used");
  else if (rows > 1)
    notes.push_back(
        fmt::format("{} rows without measurements at the ends of series were not used", rows));
  const model::DriveStatistics& drive = data.drive();
  if (drive.irregular)
    notes.push_back(fmt::format("time steps differ (median {:.4g}, one differs by {:.4g})",
                                drive.dt, drive.furthest));
  return notes;
}

Notes static_notes(const FitContext& fit, const ChosenPrior& chosen) {
  Notes notes;
  for (const Notes& some :
       {unmeasured_notes(fit.spec.model, chosen.fitted.description),
        freedom_notes(fit, chosen.fitted), learned_notes(chosen), prior_notes(fit, chosen)})
    notes.insert(notes.end(), some.begin(), some.end());
  return notes;
}

Notes unused_notes(const FitContext& fit, const model::ModelDescription& description,
                   bool networks) {
  Notes notes;
  const prior::Expert expert = model::expert_of(description);
  const double departure = fit.spec.model.departure.std.value_or(0);
  const std::string prior = prior::prior_text(description.prior, step_length(fit));
  if (departure > 0 && std::ranges::none_of(expert.parameters, [](const auto& each) {
        return std::isfinite(each.prior_std);
      }))
    notes.push_back("departure = " + kalman::number_text(departure) +
                    " has no effect: the map of " + prior + " has no entry to depart from");
  if (!expert.unused.empty())
    notes.push_back(name_list(expert.unused) + ": no equation uses what has this name");
  if (networks) return notes;
  const std::vector<std::string>& inputs = description.input_names;
  std::vector<std::string> unread;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::find(expert.inputs_read, static_cast<int>(i)) == expert.inputs_read.end())
      unread.push_back(inputs[i]);
  if (!unread.empty())
    notes.push_back("inputs " + name_list(unread) + " have no effect: the map of " + prior +
                    " does not read them, and there are no networks");
  return notes;
}

double degrees_of_freedom(const FitContext& fit, const StaticResult& fitted) {
  return values_beyond_start(fit, fitted) - fitted.free_parameters;
}

Notes constant_notes(const std::vector<LearnedParameter>& learned) {
  std::string still, bound, unknown;
  const auto text = [](const LearnedParameter& each) {
    return fmt::format("{} ({:.4g})", each.name, each.value);
  };
  const auto add = [](const std::string& one, std::string& list) {
    list += (list.empty() ? "" : ", ") + one;
  };
  for (const LearnedParameter& each : learned) {
    if (each.state == ParameterState::DidNotMove) add(text(each), still);
    if (each.state == ParameterState::AtBound) add(text(each), bound);
    if (each.state == ParameterState::NotIdentifiable)
      add(text(each) + (each.together.empty() ? "" : " apart from " + name_list(each.together)),
          unknown);
  }
  Notes notes;
  if (!still.empty())
    notes.push_back("constants that did not move from where they began: " + still +
                    "; the data do not show them, or the search was lost there: begin elsewhere");
  if (!bound.empty())
    notes.push_back("constants that sit at a bound: " + bound +
                    "; the data want them beyond it, or do not show them");
  if (!unknown.empty())
    notes.push_back("constants that are not identifiable: the data do not tell " + unknown +
                    "; give their values, or measure what depends on them");
  return notes;
}

}  // namespace kalmia::train
