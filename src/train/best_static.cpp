#include "train/best_static.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kalmia/error.hpp"
#include "nn/softplus.hpp"
#include "train/constant_search.hpp"
#include "train/first_description.hpp"
#include "train/segments.hpp"
#include "train/substep_choice.hpp"
#include "train/tails.hpp"

namespace kalmia::train {
namespace {

// With fewer values, static models are tried too whose process noise is regularised: noise below
// these shares of the usual step counts as suspiciously small.
constexpr double kFewValues = 5000;
constexpr double kSmallNoise[] = {1, 10};
// They have to be better on held-out data by this much, for what is most likely is the better
// guess.
constexpr double kClearlyBetter = 0.01;
// A glance.
constexpr int kGlanceSteps = 1 << 13;
constexpr double kGlanceTolerance = 1e-6;
// A glance at how finely equations have to be integrated, where all data are few and many; it costs
// as much as it saves. Measured on `lorenz` against a fit with one substep, CPU time: 6,000 steps
// 1.35 (25 iterations: 1.5), 65,000 steps 0.85 (10 iterations: 2.1).
constexpr int kGlanceIterations = 10;
constexpr int kLongGlanceIterations = 25;

double score_of(const FitContext& fit, const StaticResult& fitted, const ScaledData& data) {
  if (!fit.little_data())
    return held_out_loss(*fitted.alone<float>(), data, fit.split().held_out, fit.team);
  return fitted.training_loss + fitted.free_parameters / fit.holdout.values;
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

// The same, with more substeps where the likelihood is not finite with one.
StaticResult fitted_finely(const FitContext& fit, model::ModelDescription& description,
                           const ScaledData& data, const std::vector<StepRange>& training,
                           const StaticOptions& options) {
  int& substeps = description.prior.system.integration.substeps;
  for (substeps = 1;; substeps *= 2) try {
      return fit_static(description, fit.channels, fit.noise, data, training, fit.team, options);
    } catch (const NumericalError&) {
      if (substeps == kMostFoundSubsteps || fit.report.stopped()) throw;
    }
}

// Fits a model as finely integrated as its equations ask for, and leaves that in `description`:
// again and again until more substeps would change nothing, each time from where the last fit
// ended. Without learned constants on a part of the data, where a fit of all of them may begin.
StaticResult with_substeps_found(const FitContext& fit, model::ModelDescription& description,
                                 const ScaledData& data, StaticOptions options) {
  const bool constants = learned_constants(model::expert_of(description)) > 0;
  const std::vector<StepRange> training =
      constants ? fit.split().training : small_part(fit.split().training);
  if (!constants) {
    options.max_iterations =
        steps_of(fit.split().training) <= kGlanceSteps ? kGlanceIterations : kLongGlanceIterations;
    options.value_tolerance = kGlanceTolerance;
  }
  int& substeps = description.prior.system.integration.substeps;
  StaticResult found = fitted_finely(fit, description, data, training, options);
  while (!fit.report.stopped()) {
    const int needed = needed_substeps(found, data, fit.split().training, fit.team);
    if (needed <= substeps) break;
    const int had = std::exchange(substeps, needed);
    options.from = &found;
    try {
      found = fit_static(description, fit.channels, fit.noise, data, training, fit.team, options);
    } catch (const NumericalError&) {  // there is a model, if a coarse one
      substeps = had;
      break;
    }
  }
  return found;
}

}  // namespace

StaticOptions reporting_options(const FitContext& fit, const std::string& stage) {
  StaticOptions options;
  options.go_on = [&fit, stage](int iteration, int most, double loss) {
    FitProgress now;
    now.stage = stage;
    now.update = iteration;
    now.updates = most;
    now.loss = loss;
    now.held_out = now.best_held_out = std::numeric_limits<double>::quiet_NaN();
    now.seconds_left = std::numeric_limits<double>::quiet_NaN();
    return fit.report(now);
  };
  return options;
}

BestStatic fit_best_static(const FitContext& fit, model::ModelDescription description,
                           const ScaledData& data, const StaticResult* from, Care care) {
  const std::string text = prior::prior_text(description.prior, step_length(fit));
  StaticOptions options = reporting_options(fit, "static " + text);
  options.from = from;
  if (care == Care::Glance) {
    options.most_steps = kGlanceSteps;
    options.value_tolerance = kGlanceTolerance;
  }
  StaticResult found;
  const bool refines = finds_substeps(description.prior);
  if (refines) found = with_substeps_found(fit, description, data, options);
  const bool constants = learned_constants(model::expert_of(description)) > 0;
  StaticResult first;
  if (refines && (constants || fit.report.stopped())) {
    first = found;
  } else {
    if (refines) options.from = &found;
    first = fitted_with(fit, description, data, options);
  }
  // What follows needs no search for them any more.
  if (description.prior.kind == prior::PriorKind::System && options.from == nullptr)
    options.theta = first.description.theta;
  if (std::holds_alternative<model::LearnedTails>(fit.spec.model.tails) && !fit.report.stopped()) {
    description.tails = fit_tails(*first.alone<float>(), data, fit.split().training, fit.team);
    first = fitted_with(fit, description, data, options);
  }
  const double score = score_of(fit, first, data);
  BestStatic best{std::move(first), score, {}};
  if (care == Care::Glance || fit.little_data() || fit.report.stopped()) return best;
  best = with_larger_noise(fit, description, data, options, std::move(best));
  if (description.prior.kind == prior::PriorKind::System && !fit.report.stopped())
    best = or_its_start(fit, description, data, options, std::move(best));
  return best;
}

BestStatic as_found(const FitContext& fit, StaticResult found, const ScaledData& data) {
  const double score = score_of(fit, found, data);
  return {std::move(found), score, {}};
}

StaticResult joined(const model::ModelDescription& description,
                    const std::vector<StaticResult>& models) {
  const prior::Expert expert = model::expert_of(description);
  const auto N = static_cast<std::size_t>(expert.state_dim());
  const std::size_t M = description.measured_names.size();
  const model::Units& units = description.units;
  const auto triangle = static_cast<std::size_t>(lanes::triangle_size(static_cast<int>(N)));
  StaticResult whole;
  whole.description = description;
  whole.description.theta.clear();
  whole.output.assign(N * N + N + triangle, 0.0);
  whole.initial_e.assign(N, 0.0);
  whole.initial_L.assign(triangle, 0.0);
  whole.R.assign(M * M, 0.0);
  whole.noise_floor.assign(M * M, 0.0);
  const auto at = [](std::size_t i, std::size_t j) {
    return static_cast<std::size_t>(
        lanes::triangle_index(static_cast<int>(i), static_cast<int>(j)));
  };
  std::size_t state = 0, channel = 0;  // the first of a model's own
  for (const StaticResult& one : models) {
    const model::Units& own = one.description.units;
    const std::size_t n = one.initial_e.size(), m = own.y_scale.size();
    for (std::size_t i = 0; i < n; ++i) {
      const double unit = units.x_scale[state + i], scale = own.x_scale[i] / unit;
      whole.initial_e[state + i] =
          scale * one.initial_e[i] + (own.x_offset[i] - units.x_offset[state + i]) / unit;
      const auto put = [&](const double* from, double* to) {
        for (std::size_t j = 0; j <= i; ++j) {
          const double v = from[at(i, j)];
          to[at(state + i, state + j)] =
              i == j ? nn::inverse_softplus(scale * nn::softplus(v)) : scale * v;
        }
      };
      put(one.output.data() + n * n + n, whole.output.data() + N * N + N);
      put(one.initial_L.data(), whole.initial_L.data());
    }
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        const double unit = own.y_scale[i] / units.y_scale[channel + i] * own.y_scale[j] /
                            units.y_scale[channel + j];
        const std::size_t to = (channel + i) * M + channel + j;
        whole.R[to] = unit * one.R[i * m + j];
        whole.noise_floor[to] = unit * one.noise_floor[i * m + j];
      }
    whole.description.theta.insert(whole.description.theta.end(), one.description.theta.begin(),
                                   one.description.theta.end());
    whole.free_parameters += one.free_parameters;
    whole.training_loss += one.training_loss / static_cast<double>(models.size());
    state += n;
    channel += m;
  }
  return whole;
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

std::vector<LearnedParameter> examined_parameters(const StaticResult& fitted) {
  // Of a parameter's size, or of its way to a bound, what counts as no movement.
  constexpr double kNothing = 1e-4;
  model::ModelDescription began = fitted.description;
  began.theta.clear();
  const std::vector<Parameter> from = learned_parameters(began);
  const std::vector<Parameter> to = learned_parameters(fitted.description);
  const prior::Expert expert = model::expert_of(fitted.description);
  const bool written = fitted.description.prior.kind == prior::PriorKind::System;
  std::vector<LearnedParameter> examined;
  for (std::size_t i = 0; i < to.size(); ++i) {
    LearnedParameter& each = examined.emplace_back();
    each.name = to[i].name;
    each.value = to[i].value;
    each.start = from[i].value;
    each.lower = to[i].lower;
    each.upper = to[i].upper;
    if (!written) continue;
    const double size = std::min({each.start != 0 ? std::abs(each.start) : 1.0,
                                  each.start - each.lower, each.upper - each.start});
    const bool moved = std::abs(each.value - each.start) > kNothing * size;
    const auto error = std::ranges::find_if(fitted.constants, [&](const ConstantError& other) {
      return expert.parameters[other.parameter].name == each.name;
    });
    const bool known = error != fitted.constants.end();
    if (known ? error->at_bound : moved && is_near_bound(from[i], each.value)) {
      each.state = ParameterState::AtBound;
    } else if (known && error->identifiable) {
      each.state = ParameterState::Determined;
      each.standard_error = error->standard_error;
    } else if (!moved) {
      each.state = ParameterState::DidNotMove;
    } else if (known) {
      each.state = ParameterState::NotIdentifiable;
    }
    if (each.state != ParameterState::NotIdentifiable) continue;
    for (const std::size_t other : error->together)
      each.together.push_back(expert.parameters[other].name);
  }
  return examined;
}

}  // namespace kalmia::train
