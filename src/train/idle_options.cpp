// FitOptions::without_effect: the one table of what an option needs in order to do anything.
//
// Seed and threads are options of every command, whether anything is random or not. What only the
// data decide (too few of them for networks, inputs that nothing reads) is said by the summary.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "kalmia/fit.hpp"
#include "nn/encoder.hpp"
#include "prior/expert.hpp"

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

// An option and why it does nothing; those that are not here do something.
using Reasons = std::map<std::string, std::string>;

constexpr const char* kNoNetworks = "hidden = 0, so there are no networks";

// "it is for the priors a, b and c", of two or more.
std::string for_priors(const std::vector<std::string>& names) {
  std::string text = "it is for the priors " + names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

Reasons idle_in_model(const ModelOptions& o) {
  Reasons idle;
  std::vector<std::string> integrated = prior::integrated_experts();
  if (std::ranges::find(integrated, o.prior) == integrated.end()) {
    idle["flow"] = idle["substeps"] = for_priors(integrated);
    integrated.insert(integrated.begin(), "ar");
    if (o.prior != "ar") idle["order"] = for_priors(integrated);
  } else if (o.flow == "rk4") {
    idle["order"] = "flow = rk4 has no Taylor series; it is for frozen and taylor";
  } else {
    idle["substeps"] = "it is for flow = rk4";
  }
  if (o.prior == "constant-position" && o.departure > 0 && o.departure_degree == 1)
    idle["departure"] =
        "constant-position has no entry to depart from; a departure_degree above 1 "
        "adds a drift";
  if (o.departure == 0) idle["departure_degree"] = "departure = 0, so there is none";
  if (!nn::is_encoder(o.encoder) || !nn::reads_taps(nn::encoder_of_name(o.encoder)))
    idle["taps"] = "it is for encoder = " + nn::taps_alternatives();
  if (o.smoother == "linearized") idle["keep_smoother"] = "the linearized smoother is always kept";
  if (o.hidden == 0)
    for (const char* field :
         {"encoder", "taps", "filter", "smoother", "keep_smoother", "members", "decoder"})
      idle[field] = kNoNetworks;
  return idle;
}

Reasons idle_in_training(const FitOptions& o, bool validation) {
  Reasons idle;
  if (o.model.hidden == 0)
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
  const bool frozen = system.flow.empty() && !system.matrix.empty();
  const bool by_rk4 = system.flow == "rk4" || (system.flow.empty() && !frozen);
  if (by_rk4)
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
  visit_fields(options,
               [&](const char* name, const auto& value, const char*) { json[name] = value; });
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
  std::vector<std::string> sentences;
  add(model, idle_in_model(model), sentences);
  if (model.prior == "system" || (model.prior == "auto" && !model.system.empty())) {
    const System defaults;
    const Reasons in_system = idle_in_system(model.system);
    const auto add_system = [&](const char* name, int value, int usual) {
      if (const auto reason = in_system.find(name); reason != in_system.end() && value != usual)
        sentences.push_back(sentence(std::string("system.") + name, value, reason->second));
    };
    add_system("order", model.system.order, defaults.order);
    add_system("substeps", model.system.substeps, defaults.substeps);
  }
  add(train, idle_in_training(*this, validation), sentences);
  return sentences;
}

}  // namespace kalmia
