// FitOptions::without_effect: the one table of what an option needs in order to do anything.
//
// Seed and threads are options of every command, whether anything is random or not. What only the
// data decide (too few of them for networks, inputs that nothing reads) is said by the summary.
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/option_rules.hpp"
#include "model/model_spec.hpp"
#include "nn/encoder.hpp"

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

// An option and why it does nothing; those that are not here do something.
using Reasons = std::map<std::string, std::string>;

constexpr const char* kNoNetworks = "hidden = 0, so there are no networks";

// "a, b and c".
template <typename Range, typename Name>
std::string listed(const Range& entries, Name&& name) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += (i == 0 ? "" : i + 1 < entries.size() ? ", " : " and ") + std::string(name(entries[i]));
  return text;
}

std::string for_priors(const std::vector<prior::PriorKind>& kinds) {
  return "it is for the priors " + listed(kinds, prior::prior_name);
}

// "it is for encoder = a, b or c".
std::string for_encoders_with_taps() {
  std::vector<nn::EncoderEntry> with_taps;
  std::ranges::copy_if(nn::encoder_table(), std::back_inserter(with_taps),
                       &nn::EncoderEntry::reads_taps);
  return "it is for encoder = " + alternatives(choices_in<nn::EncoderEntry>(with_taps));
}

Reasons idle_in_model(const model::ModelSpec& spec) {
  Reasons idle;
  std::vector<prior::PriorKind> integrated = prior::integrated_priors();
  if (std::ranges::none_of(integrated, [&](auto kind) { return spec.is_prior(kind); })) {
    idle["flow"] = idle["substeps"] = for_priors(integrated);
    integrated.insert(integrated.begin(), prior::PriorKind::Ar);
    if (!spec.is_prior(prior::PriorKind::Ar)) idle["order"] = for_priors(integrated);
  } else if (spec.integration.flow == prior::FlowKind::Rk4) {
    idle["order"] = "flow = rk4 has no Taylor series; it is for frozen and taylor";
  } else {
    idle["substeps"] = "it is for flow = rk4";
  }
  const double departure = spec.departure.std.value_or(-1);
  if (spec.is_prior(prior::PriorKind::ConstantPosition) && departure > 0 &&
      spec.departure.degree == 1)
    idle["departure"] =
        "constant-position has no entry to depart from; a departure_degree above 1 "
        "adds a drift";
  if (departure == 0) idle["departure_degree"] = "departure = 0, so there is none";
  if (!nn::encoder_entry(spec.networks.encoder).reads_taps) idle["taps"] = for_encoders_with_taps();
  if (!spec.smoother) idle["keep_smoother"] = "the linearized smoother is always kept";
  if (!spec.searches()) idle["purpose"] = "effort = quick, so there is no search that asks for it";
  if (!spec.networks.any())
    for (const char* field :
         {"encoder", "taps", "filter", "smoother", "keep_smoother", "members", "decoder"})
      idle[field] = kNoNetworks;
  return idle;
}

Reasons idle_in_training(const model::ModelSpec& spec, bool validation) {
  Reasons idle;
  if (!spec.networks.any())
    for (const char* field : {"learning_rate", "updates", "window", "batch", "patience", "gaps",
                              "clip_norm", "weight_decay"})
      idle[field] = kNoNetworks;
  if (validation) idle["holdout"] = "the validation data are what is held out";
  return idle;
}

// Of a user's equations.
Reasons idle_in_system(const System& system) {
  Reasons idle;
  if (!system.next.empty()) {
    idle["order"] = idle["substeps"] = "next gives the map of a step itself";
    return idle;
  }
  const prior::FlowEntry* named = prior::find_flow(system.integration.flow);
  const prior::FlowKind flow =
      named != nullptr ? named->flow : prior::usual_flow(!system.matrix.empty());
  if (flow == prior::FlowKind::Rk4)
    idle["order"] = "the flow is rk4, and it is for taylor and frozen";
  else
    idle["substeps"] = "it is for flow = rk4";
  return idle;
}

std::string sentence(const std::string& place, const Json& value, const std::string& reason) {
  return place + " = " + (value.is_string() ? value.get<std::string>() : value.dump()) +
         " has no effect: " + reason + "; leave it out";
}

template <typename Options>
Json fields(const Options& options) {
  Json json = Json::object();
  visit_fields(options, [&](const char* name, const auto& value, const char*, const auto&...) {
    json[name] = value;
  });
  return json;
}

template <typename Options>
void add(const Options& options, const Reasons& idle, std::vector<std::string>& sentences) {
  const Json found = fields(options), defaults = fields(Options{});
  for (const auto& [name, value] : found.items())
    if (const auto reason = idle.find(name); reason != idle.end() && value != defaults[name])
      sentences.push_back(sentence(name, value, reason->second));
}

}  // namespace

std::vector<std::string> FitOptions::without_effect(bool validation) const {
  std::vector<std::string> violations;  // others say these
  const model::ModelSpec spec = model::parse_model(model, violations);
  std::vector<std::string> sentences;
  add(model, idle_in_model(spec), sentences);
  if (const auto* written = std::get_if<model::WrittenPrior>(&spec.prior)) {
    const IntegrationOptions usual = System().integration;
    const IntegrationOptions& given = written->system.integration;
    const Reasons in_system = idle_in_system(written->system);
    const auto add_system = [&](const char* name, int value, int default_value) {
      if (const auto reason = in_system.find(name);
          reason != in_system.end() && value != default_value)
        sentences.push_back(sentence(std::string("system.") + name, value, reason->second));
    };
    add_system("order", given.order, usual.order);
    add_system("substeps", given.substeps, usual.substeps);
  }
  add(train, idle_in_training(spec, validation), sentences);
  return sentences;
}

}  // namespace kalmia
