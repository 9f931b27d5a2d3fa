#include "train/best_static.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kalmia/error.hpp"
#include "nn/softplus.hpp"
#include "train/first_description.hpp"
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
  StaticResult first = fitted_with(fit, description, data, options);
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

}  // namespace kalmia::train
