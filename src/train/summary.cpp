#include "train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

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
    case StopReason::MapLearned:
      return "map_learned";
    case StopReason::LittleData:
      return "little_data";
    case StopReason::NoisePredicted:
      return "noise_predicted";
  }
  return "";
}

const char* name_of(ParameterState state) {
  switch (state) {
    case ParameterState::Unknown:
      return "unknown";
    case ParameterState::Determined:
      return "determined";
    case ParameterState::NotIdentifiable:
      return "not_identifiable";
    case ParameterState::DidNotMove:
      return "did_not_move";
    case ParameterState::AtBound:
      return "at_bound";
  }
  return "";
}

template <typename Options>
Json fields_json(const Options& options) {
  Json json = Json::object();
  visit_fields(options, [&](const char* name, const auto& value, const char*, const auto&...) {
    json[name] = value;
  });
  return json;
}

// Writes a summary, or a part of it, from its fields. Figures that vary from run to run are for the
// user alone; what is stored leaves them out.
class SummaryWriter {
 public:
  explicit SummaryWriter(bool varying) : varying_(varying) {}

  // JSON has no NaN.
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  Json operator()(bool value) const { return value; }
  Json operator()(int value) const { return value; }
  Json operator()(std::size_t value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(StopReason value) const { return name_of(value); }
  Json operator()(ParameterState value) const { return name_of(value); }

  template <typename Part>
  Json operator()(const std::vector<Part>& parts) const {
    Json json = Json::array();
    for (const Part& each : parts) json.push_back((*this)(each));
    return json;
  }

  template <typename Part>
  Json operator()(const Part& part) const {
    Json json = Json::object();
    visit_fields(part, [&](const char* name, const auto& field, Figure figure = Figure::Repeats) {
      if (figure == Figure::Repeats || varying_) add(json, name, field);
    });
    return json;
  }

 private:
  template <typename Field>
  void add(Json& json, const char* name, const Field& field) const {
    json[name] = (*this)(field);
  }
  template <typename Field>
  void add(Json& json, const char* name, const std::optional<Field>& field) const {
    if (field) json[name] = (*this)(*field);
  }

  bool varying_;
};

std::string networks_text(const FitNetworksSummary& n) {
  const std::string cost =
      fmt::format("{:.1f} s, {:.2f} million steps/s\n", n.seconds, n.steps_per_second * 1e-6);
  if (!n.kept) return fmt::format("networks: none was better in {} updates, ", n.updates) + cost;
  return fmt::format("networks: held-out loss {:.4f} at update {} of {}, ", n.held_out,
                     n.best_update, n.updates) +
         cost;
}

// "members: 3 of 4 combined have held-out loss 0.7712 (alone 0.7790, 0.7801, 0.7795)".
std::string ensemble_text(const FitEnsembleSummary& ensemble) {
  std::string alone;
  std::size_t networks = 0;
  for (const FitMember& member : ensemble.members) {
    if (!member.networks) continue;
    alone += fmt::format("{}{:.4f}", networks++ > 0 ? ", " : "", member.held_out);
  }
  const std::size_t count = ensemble.members.size();
  if (networks < 2)
    return fmt::format("members: {} of {} better than the static model, nothing to combine\n",
                       networks, count);
  return fmt::format("members: {} of {} combined have held-out loss {:.4f} (alone {}){}\n",
                     networks, count, ensemble.held_out, alone,
                     ensemble.combined ? "" : "; the best alone is kept");
}

// The risk decided against it, or the likelihood before that.
std::string smoother_text(const FitSmootherSummary& s) {
  const auto risks = [&](const char* than) {
    return std::isnan(s.risk) || std::isnan(s.linearized_risk)
               ? std::string()
               : fmt::format(
                     "; {}: estimated error {:.4f} of the noise's variance, linearized {:.4f}",
                     than, s.risk, s.linearized_risk);
  };
  if (s.kept)
    return fmt::format(
        "smoother ({}): held-out loss {:.4f} at update {} of {}, {:.1f} s, leak {:.4f}{}{}\n",
        s.kind, s.held_out, s.best_update, s.updates, s.seconds, s.leak, risks("kept"),
        s.stop_reason == StopReason::NoisePredicted
            ? "; it ended where the noise itself was predicted"
            : "");
  return fmt::format("smoother: none was better than {} in {} updates, {:.1f} s{}\n",
                     s.best_update > 0 ? "the linearized one" : "the filter", s.updates, s.seconds,
                     risks("left out"));
}

// "variances scaled, by steps to the values that tell of a state: filter 1.04 (1), 1.31 (7), 1.9
// (48, not determined); linearized ...". Of several channels the geometric mean; what is not
// determined of any is said to be.
std::string calibration_text(const std::vector<FitFactor>& factors) {
  std::string text, method;
  for (std::size_t first = 0; first < factors.size(); ++first) {
    const FitFactor& at = factors[first];
    const auto same = [&](const FitFactor& each) {
      return each.what == at.what && each.steps == at.steps;
    };
    if (std::any_of(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(first), same))
      continue;
    double log_sum = 0, count = 0;
    bool determined = true;
    for (const FitFactor& each : factors)
      if (same(each)) {
        log_sum += std::log(each.factor);
        ++count;
        determined = determined && each.determined;
      }
    text += method == at.what ? ", " : fmt::format("{}{} ", method.empty() ? "" : "; ", at.what);
    method = at.what;
    text += fmt::format("{:.3g} ({:.3g}{})", std::exp(log_sum / count), at.steps,
                        determined ? "" : ", not determined");
  }
  return "variances scaled, by steps to the values that tell of a state: " + text + "\n";
}

// What was better than all before it, and by how much; the rest is in the JSON.
std::string search_text(const std::vector<FitCandidate>& tried) {
  const auto kept =
      std::ranges::count_if(tried, [](const FitCandidate& each) { return each.kept; });
  std::string text = fmt::format(
      "{} models were tried, {} of them kept for a while: loss over all uses (filter, smooth, "
      "gaps, "
      "forecast)\n",
      tried.size(), kept);
  for (const FitCandidate& each : tried)
    if (each.kept)
      text += fmt::format("  {:9.4f} ({:.4f}, {:.4f}, {:.4f}, {:.4f})  {}\n", each.loss,
                          each.filter, each.smooth, each.gaps, each.forecast, each.what);
  return text;
}

// "gravity 9.466 +- 0.21, damping 0.1002 (not identifiable)".
std::string parameter_text(const LearnedParameter& parameter) {
  std::string text = fmt::format("{} {:.4g}", parameter.name, parameter.value);
  switch (parameter.state) {
    case ParameterState::Unknown:
      return text;
    case ParameterState::Determined:
      return text + fmt::format(" +- {:.2g}", parameter.standard_error);
    case ParameterState::NotIdentifiable:
      return text + " (not identifiable)";
    case ParameterState::DidNotMove:
      return text + " (did not move)";
    case ParameterState::AtBound:
      return text + " (at its bound)";
  }
  return text;
}

std::string parameters_text(const std::vector<LearnedParameter>& parameters) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(parameters.size(), kShown); ++i)
    text += (i > 0 ? ", " : "") + parameter_text(parameters[i]);
  if (parameters.size() > kShown) text += fmt::format(", ... ({} in all)", parameters.size());
  return "learned: " + text + "\n";
}

}  // namespace

std::string FitSummary::brief() const {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  text +=
      fmt::format("trained on {} steps, {} held out\n", data.training_steps, data.held_out_steps);
  if (!static_model.search.empty()) text += search_text(static_model.search);
  text += fmt::format("static model ({}): loss {:.4f} in {:.1f} s\n", static_model.prior,
                      static_model.held_out, static_model.seconds);
  if (!static_model.found.empty()) text += "found: " + static_model.found + "\n";
  if (!static_model.parameters.empty()) text += parameters_text(static_model.parameters);
  if (networks.updates > 0) text += networks_text(networks);
  if (ensemble) text += ensemble_text(*ensemble);
  if (smoother) text += smoother_text(*smoother);
  if (!calibration.empty()) text += calibration_text(calibration);
  if (networks.skipped_updates > 0)
    text += fmt::format("{} updates were left out as not finite; the rate was halved {} times\n",
                        networks.skipped_updates, networks.rate_cuts);
  return text + message + "\n";
}

std::string FitSummary::to_json() const { return SummaryWriter(true)(*this).dump(2); }

namespace train {

std::string message_of(const TrainOptions& options, const FitSummary& summary) {
  const FitNetworksSummary& networks = summary.networks;
  const std::string kept = networks.kept
                               ? "the best networks were kept"
                               : "no networks were better than the static model, which was kept";
  switch (networks.stop_reason) {
    case StopReason::Finished:
      return "training ran to its end; " + kept;
    case StopReason::Patience:
      return fmt::format("training stopped after {} checks without a better held-out loss; {}",
                         options.patience, kept);
    case StopReason::Interrupted:
      return networks.updates > 0 ? "training was interrupted; " + kept
                                  : "training was interrupted before any networks; the static "
                                    "model as it was then is kept";
    case StopReason::Failures:
      return fmt::format(
          "training stopped: losses were not finite in spite of {} smaller rates; {}",
          networks.rate_cuts, kept);
    case StopReason::MapLearned:
      return "the map learned its own departure, which leaves nothing for networks";
    case StopReason::NoNetworks:
      return "hidden = 0: the static model was fitted, without networks";
    case StopReason::LittleData:
      return "too little data for networks: the static model was fitted to all of them";
    case StopReason::NoisePredicted:
      return fmt::format(
          "the measurements are predicted better (loss {:.3f}) than their stated noise allows "
          "({:.3f}): the noise lasts from step to step, or is smaller than stated; networks would "
          "learn to predict it, so {}",
          networks.updates > 0 ? networks.checks.back().held_out : summary.static_model.held_out,
          summary.data.noise_bound,
          networks.kept ? "the last ones that did not were kept" : "the static model was kept");
  }
  return {};
}

std::string stored_summary_json(const FitOptions& options, const FitSummary& summary) {
  Json train = fields_json(options.train);
  train.erase("threads");
  const Json json = {{"model", fields_json(options.model)},
                     {"train", train},
                     {"summary", SummaryWriter(false)(summary)}};
  return json.dump();
}

}  // namespace train
}  // namespace kalmia
