#include "train/summary.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/threads.hpp"
#include "kalman/student.hpp"
#include "train/tails.hpp"

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::Finished:
      return "finished";
    case StopReason::Patience:
      return "patience";
    case StopReason::Interrupted:
      return "interrupted";
    case StopReason::Failures:
      return "failures";
    case StopReason::NoNetworks:
      return "no_networks";
    case StopReason::LittleData:
      return "little_data";
    case StopReason::NoisePredicted:
      return "noise_predicted";
  }
  return "";
}

template <typename Options>
Json fields(const Options& options) {
  Json json = Json::object();
  visit_fields(options,
               [&](const char* name, const auto& value, const char*) { json[name] = value; });
  return json;
}

Json members_json(const FitSummary& s) {
  Json each = Json::array();
  for (const FitMember& member : s.members)
    each.push_back({{"stop_reason", name_of(member.stop_reason)},
                    {"networks", member.networks},
                    {"held_out", number(member.held_out)},
                    {"updates", member.updates},
                    {"best_update", member.best_update},
                    {"smoother", member.smoother}});
  return {{"combined", s.combined}, {"held_out", number(s.combined_held_out)}, {"each", each}};
}

// The held-out loss of the best networks from one seed.
double best_alone(const FitSummary& s) {
  return s.combined ? std::ranges::min(s.members, {}, &FitMember::held_out).held_out
                    : s.best_held_out;
}

// "members: 3 of 4 combined have held-out loss 0.7712 (alone 0.7790, 0.7801, 0.7795)".
std::string members_text(const FitSummary& s) {
  std::string alone;
  std::size_t networks = 0;
  for (const FitMember& member : s.members) {
    if (!member.networks) continue;
    alone += fmt::format("{}{:.4f}", networks++ > 0 ? ", " : "", member.held_out);
  }
  if (networks < 2)
    return fmt::format("members: {} of {} better than the static model, nothing to combine\n",
                       networks, s.members.size());
  return fmt::format("members: {} of {} combined have held-out loss {:.4f} (alone {}){}\n",
                     networks, s.members.size(), s.combined_held_out, alone,
                     s.combined ? "" : "; the best alone is kept");
}

// The risk decided against it, or the likelihood before that.
std::string smoother_text(const FitSummary& s) {
  const auto risks = [&](const char* than) {
    return std::isnan(s.smoother_risk) || std::isnan(s.linearized_risk)
               ? std::string()
               : fmt::format(
                     "; {}: estimated error {:.4f} of the noise's variance, linearized {:.4f}",
                     than, s.smoother_risk, s.linearized_risk);
  };
  if (s.smoother)
    return fmt::format(
        "smoother ({}): held-out loss {:.4f} at update {} of {}, {:.1f} s, leak {:.4f}{}{}\n",
        s.smoother_kind, s.smoother_held_out, s.smoother_best_update, s.smoother_updates,
        s.smoother_seconds, s.smoother_leak, risks("kept"),
        s.smoother_stop_reason == StopReason::NoisePredicted
            ? "; it ended where the noise itself was predicted"
            : "");
  return fmt::format("smoother: none was better than {} in {} updates, {:.1f} s{}\n",
                     s.smoother_best_update > 0 ? "the linearized one" : "the filter",
                     s.smoother_updates, s.smoother_seconds, risks("left out"));
}

std::string calibration_text(const FitSummary& s) {
  std::string text;
  for (const FitFactor& each : s.calibration)
    text += fmt::format("{}{} {:.3f}", text.empty() ? "" : ", ", each.what, each.factor) +
            (each.determined ? fmt::format(" (+-{:.0f} %)", 100 * each.log_error)
                             : std::string(" (not determined)"));
  return "covariances scaled by: " + text + "\n";
}

Json lasting(const FitSummary& s) {
  Json json = {
      {"stop_reason", name_of(s.stop_reason)},
      {"message", s.message},
      {"prior", s.prior},
      {"prior_chosen", s.prior_chosen},
      {"networks", s.networks},
      {"notes", s.notes},
      {"training_steps", s.training_steps},
      {"held_out_steps", s.held_out_steps},
      {"empty_end_steps", s.empty_end_steps},
      {"degrees_of_freedom", s.degrees_of_freedom},
      {"static_held_out", number(s.static_held_out)},
      {"best_held_out", number(s.best_held_out)},
      {"noise_bound", number(s.noise_bound)},
      {"updates", s.updates},
      {"best_update", s.best_update},
      {"skipped_updates", s.skipped_updates},
      {"rate_cuts", s.rate_cuts},
  };
  if (s.smoother_updates > 0)
    json["smoother"] = {{"kind", s.smoother_kind},
                        {"better", s.smoother},
                        {"stop_reason", name_of(s.smoother_stop_reason)},
                        {"updates", s.smoother_updates},
                        {"best_update", s.smoother_best_update},
                        {"held_out", number(s.smoother_held_out)},
                        {"leak", s.smoother ? number(s.smoother_leak) : Json(nullptr)},
                        {"risk", number(s.smoother_risk)},
                        {"linearized_risk", number(s.linearized_risk)}};
  if (!s.members.empty()) json["members"] = members_json(s);
  if (!s.calibration.empty()) {
    Json& factors = json["calibration"] = Json::array();
    for (const FitFactor& each : s.calibration)
      factors.push_back({{"what", each.what},
                         {"factor", number(each.factor)},
                         {"log_error", number(each.log_error)},
                         {"determined", each.determined}});
  }
  Json& checks = json["checks"] = Json::array();
  for (const FitCheck& check : s.checks)
    checks.push_back({{"update", check.update},
                      {"loss", number(check.loss)},
                      {"held_out", number(check.held_out)},
                      {"learning_rate", check.learning_rate}});
  return json;
}

// What was learned of the expert map.
Json parameters_json(const std::vector<Parameter>& parameters) {
  Json json = Json::array();
  for (const Parameter& each : parameters)
    json.push_back({{"name", each.name},
                    {"value", number(each.value)},
                    {"lower", number(each.lower)},
                    {"upper", number(each.upper)}});
  return json;
}

std::string parameters_text(const std::vector<Parameter>& parameters) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(parameters.size(), kShown); ++i)
    text += fmt::format("{}{} {:.4g}", i ? ", " : "", parameters[i].name, parameters[i].value);
  if (parameters.size() > kShown) text += fmt::format(", ... ({} in all)", parameters.size());
  return text;
}

void require(bool holds, const std::string& name, const std::string& found, const char* rule,
             std::string& wrong) {
  if (!holds) wrong += "\n  " + name + " = " + found + ", but it must be " + rule;
}

}  // namespace

void FitOptions::validate() const {
  std::string wrong;
  const auto check = [&](bool holds, const std::string& name, auto found, const char* rule) {
    require(holds, name, fmt::format("{}", found), rule, wrong);
  };
  check(model.order >= 0 && model.order <= 20, "model.order", model.order, "in 0..20");
  check(model.departure_degree >= 1 && model.departure_degree <= 8, "model.departure_degree",
        model.departure_degree, "in 1..8");
  check(model.latent >= 0 && model.latent <= 64, "model.latent", model.latent, "in 0..64");
  check(model.latent == 0 || model.prior == "none", "model.prior", model.prior,
        "none where there are latent states");
  check(model.hidden >= 0 && model.hidden <= 4096, "model.hidden", model.hidden, "in 0..4096");
  check(model.encoder == "gru" || model.encoder == "lstm" || model.encoder == "conv",
        "model.encoder", model.encoder, "gru, lstm or conv");
  check(model.taps >= 1 && model.taps <= 4096, "model.taps", model.taps, "in 1..4096");
  if (model.tails != "gaussian" && model.tails != "learn") train::parse_tails(model.tails);
  check(model.members >= 1 && model.members <= 64, "model.members", model.members, "in 1..64");
  if (model.calibrate && model.tails != "gaussian")
    wrong += "\n  model.calibrate with model.tails = " + model.tails +
             ", but innovations tell covariances only where noise is gaussian; leave one out";
  if (model.calibrate && model.smoother.starts_with("recursive"))
    wrong += "\n  model.calibrate with model.smoother = " + model.smoother +
             ", but what that says of a measurement has seen it; leave one out";
  check(model.filter == "recursive" || model.filter == "recurrent", "model.filter", model.filter,
        "recursive or recurrent");
  check(model.smoother == "linearized" || model.smoother == "fused" ||
            model.smoother == "recurrent" || model.smoother == "recursive" ||
            model.smoother == "recursive-alternative",
        "model.smoother", model.smoother,
        "linearized, fused, recurrent, recursive or recursive-alternative");
  check(model.smoother != "recursive-alternative" || model.tails == "gaussian", "model.smoother",
        model.smoother,
        "another where tails are not gaussian: its posterior is that of Gaussian "
        "noise");
  for (const int width : model.decoder)
    check(width >= 1 && width <= 4096, "model.decoder", width, "in 1..4096");
  check(train.learning_rate > 0 && train.learning_rate <= 1, "train.learning_rate",
        train.learning_rate, "above 0 and at most 1");
  check(train.updates >= 0, "train.updates", train.updates, ">= 0");
  check(train.window >= 2 && train.window <= 4096, "train.window", train.window,
        "in 2..4096 (one step has no transition to learn)");
  check(train.batch >= 1 && train.batch <= 65536, "train.batch", train.batch, "in 1..65536");
  check(train.patience >= 1, "train.patience", train.patience, ">= 1");
  check(train.holdout > 0 && train.holdout <= 0.5, "train.holdout", train.holdout,
        "above 0 and at most 0.5");
  check(train.gaps >= 0 && train.gaps <= 0.5, "train.gaps", train.gaps, "in 0..0.5");
  check(train.clip_norm >= 0 && std::isfinite(train.clip_norm), "train.clip_norm", train.clip_norm,
        "finite and >= 0 (0 turns clipping off)");
  check(train.weight_decay >= 0 && std::isfinite(train.weight_decay), "train.weight_decay",
        train.weight_decay, "finite and >= 0");
  check(threads_allowed(train.threads), "train.threads", train.threads, kThreadsRule);
  if (!wrong.empty()) throw ConfigError("invalid options:" + wrong);
}

std::string FitSummary::brief() const {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  text += fmt::format("trained on {} steps, {} held out\n", training_steps, held_out_steps);
  text += fmt::format("static model ({}): loss {:.4f} in {:.1f} s\n", prior, static_held_out,
                      static_seconds);
  if (!parameters.empty()) text += "learned: " + parameters_text(parameters) + "\n";
  if (updates > 0 && !networks)
    text +=
        fmt::format("networks: none was better in {} updates, {:.1f} s, {:.2f} million steps/s\n",
                    updates, network_seconds, steps_per_second * 1e-6);
  else if (updates > 0)
    text += fmt::format(
        "networks: held-out loss {:.4f} at update {} of {}, {:.1f} s, {:.2f} million steps/s\n",
        best_alone(*this), best_update, updates, network_seconds, steps_per_second * 1e-6);
  if (!members.empty()) text += members_text(*this);
  if (smoother_updates > 0) text += smoother_text(*this);
  if (!calibration.empty()) text += calibration_text(*this);
  if (skipped_updates > 0)
    text += fmt::format("{} updates were left out as not finite; the rate was halved {} times\n",
                        skipped_updates, rate_cuts);
  return text + message + "\n";
}

std::string FitSummary::to_json() const {
  Json json = lasting(*this);
  json["parameters"] = parameters_json(parameters);
  json["static_seconds"] = static_seconds;
  json["network_seconds"] = network_seconds;
  json["steps_per_second"] = steps_per_second;
  return json.dump(2);
}

namespace train {

double noise_bound(const model::NoiseSpec& noise, double tails, const Dataset& data,
                   const std::vector<HeldOut>& held_out) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (noise.learned()) return kNone;
  const int M = data.meas_dim();
  const Eigen::Map<const Eigen::MatrixXd> R(noise.R.data(), M, M);
  std::map<std::vector<int>, double> half_log_det;  // by the channels measured
  double sum = 0, values = 0;
  for (const HeldOut& each : held_out)
    for (int k = each.score_from; k < each.stretch.end; ++k) {
      const double* y = data.series[static_cast<std::size_t>(each.stretch.series)].y.data() +
                        static_cast<std::ptrdiff_t>(k) * M;
      std::vector<int> measured;
      for (int m = 0; m < M; ++m)
        if (!std::isnan(y[m])) measured.push_back(m);
      if (measured.empty()) continue;
      const auto [entry, is_new] = half_log_det.try_emplace(measured, 0);
      if (is_new)
        entry->second =
            Eigen::MatrixXd(R(measured, measured).llt().matrixLLT()).diagonal().array().log().sum();
      sum += entry->second;
      // Each value's own deviation in place of the typical one.
      const std::vector<double>& stds =
          data.series[static_cast<std::size_t>(each.stretch.series)].y_std;
      if (!stds.empty())
        for (const int m : measured)
          sum += std::log(stds[static_cast<std::size_t>(k * M + m)] / std::sqrt(R(m, m)));
      values += static_cast<double>(measured.size());
    }
  const double entropy =
      tails > 0 ? kalman::student_entropy(tails) : 0.5 * (1 + std::log(2 * std::numbers::pi));
  return values > 0 ? entropy + sum / values : kNone;
}

bool predicts_noise(double held_out, const FitSummary& summary) {
  constexpr double kClearly = 0.02;
  constexpr double kDeviations = 2;
  // At least one value a step; half the squares are summed.
  const double deviation =
      std::sqrt(0.5 / static_cast<double>(std::max<std::size_t>(1, summary.held_out_steps)));
  return held_out < summary.noise_bound - std::max(kClearly, kDeviations * deviation);
}

std::vector<std::string> constant_notes(const std::vector<Parameter>& began,
                                        const std::vector<Parameter>& ended) {
  // Of the way to a bound, or of the value itself.
  constexpr double kNothing = 1e-4;
  constexpr double kAtBound = 1e-3;
  std::string still, bound;
  const auto add = [](const Parameter& each, std::string& list) {
    list += fmt::format("{}{} ({:.4g})", list.empty() ? "" : ", ", each.name, each.value);
  };
  for (std::size_t i = 0; i < began.size(); ++i) {
    const Parameter& from = began[i];
    const Parameter& to = ended[i];
    const double size = std::min({from.value != 0 ? std::abs(from.value) : 1.0,
                                  from.value - from.lower, from.upper - from.value});
    const double range = std::min(from.upper - from.lower, 2 * std::abs(from.value));
    const double left = std::min(to.value - to.lower, to.upper - to.value);
    if (std::abs(to.value - from.value) <= kNothing * size)
      add(to, still);
    else if (left <= kAtBound * range)
      add(to, bound);
  }
  std::vector<std::string> notes;
  if (!still.empty())
    notes.push_back("constants that did not move from where they began: " + still +
                    "; the data do not show them, or the search was lost there: begin elsewhere");
  if (!bound.empty())
    notes.push_back("constants that sit at a bound: " + bound +
                    "; the data want them beyond it, or do not show them");
  return notes;
}

void describe(const FitOptions& options, FitSummary& s) {
  const std::string kept = s.networks ? "the best networks were kept"
                                      : "no networks were better than the static model, which was "
                                        "kept";
  switch (s.stop_reason) {
    case StopReason::Finished:
      s.message = "training ran to its end; " + kept;
      break;
    case StopReason::Patience:
      s.message = fmt::format("training stopped after {} checks without a better held-out loss; {}",
                              options.train.patience, kept);
      break;
    case StopReason::Interrupted:
      s.message = s.updates > 0 ? "training was interrupted; " + kept
                                : "training was interrupted before any networks; the static model "
                                  "as it was then is kept";
      break;
    case StopReason::Failures:
      s.message =
          fmt::format("training stopped: losses were not finite in spite of {} smaller rates; {}",
                      s.rate_cuts, kept);
      break;
    case StopReason::NoNetworks:
      s.message = "hidden = 0: the static model was fitted, without networks";
      break;
    case StopReason::LittleData:
      s.message = "too little data for networks: the static model was fitted to all of them";
      break;
    case StopReason::NoisePredicted:
      s.message = fmt::format(
          "the measurements are predicted better (loss {:.3f}) than their stated noise allows "
          "({:.3f}): the noise lasts from step to step, or is smaller than stated; networks would "
          "learn to predict it, so {}",
          s.updates > 0 ? s.checks.back().held_out : s.static_held_out, s.noise_bound,
          s.networks ? "the last ones that did not were kept" : "the static model was kept");
      break;
  }
}

std::string stored_summary_json(const FitOptions& options, const FitSummary& summary) {
  Json train = fields(options.train);
  train.erase("threads");
  Json json = {{"model", fields(options.model)}, {"train", train}, {"summary", lasting(summary)}};
  return json.dump();
}

}  // namespace train
}  // namespace kalmia
