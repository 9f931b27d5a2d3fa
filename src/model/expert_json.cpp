#include "model/expert_json.hpp"

#include <cmath>

#include "base/json.hpp"

namespace kalmia::model {
namespace {

using Json = nlohmann::ordered_json;

Json equations_json(const std::vector<Equation>& equations) {
  Json json = Json::array();
  for (const Equation& each : equations) json.push_back({each.name, each.text});
  return json;
}

std::vector<Equation> equations_of(const Json& json) {
  std::vector<Equation> equations;
  for (const Json& each : json)
    equations.push_back({each.at(0).get<std::string>(), each.at(1).get<std::string>()});
  return equations;
}

// JSON has no infinity: a bound that is none is null.
Json bound_json(double bound) { return std::isfinite(bound) ? Json(bound) : Json(nullptr); }
double bound_of(const Json& json, double none) {
  return json.is_null() ? none : json.get<double>();
}

Json system_json(const System& system) {
  Json parameters = Json::array(), initial = Json::array();
  for (const Parameter& each : system.parameters)
    parameters.push_back({{"name", each.name},
                          {"value", each.value},
                          {"learn", each.learn},
                          {"lower", bound_json(each.lower)},
                          {"upper", bound_json(each.upper)}});
  for (const InitialState& each : system.initial)
    initial.push_back({{"name", each.name}, {"mean", each.mean}, {"std", each.std}});
  return {{"states", system.states},
          {"inputs", system.inputs},
          {"parameters", parameters},
          {"define", equations_json(system.define)},
          {"ode", equations_json(system.ode)},
          {"matrix", system.matrix},
          {"next", equations_json(system.next)},
          {"flow", system.integration.flow},
          {"order", system.integration.order},
          {"substeps", system.integration.substeps},
          {"measure", equations_json(system.measure)},
          {"initial", initial}};
}

System system_of(const Json& json) {
  System system;
  json.at("states").get_to(system.states);
  json.at("inputs").get_to(system.inputs);
  for (const Json& each : json.at("parameters")) {
    Parameter& parameter = system.parameters.emplace_back();
    each.at("name").get_to(parameter.name);
    each.at("value").get_to(parameter.value);
    each.at("learn").get_to(parameter.learn);
    parameter.lower = bound_of(each.at("lower"), parameter.lower);
    parameter.upper = bound_of(each.at("upper"), parameter.upper);
  }
  system.define = equations_of(json.at("define"));
  system.ode = equations_of(json.at("ode"));
  json.at("matrix").get_to(system.matrix);
  system.next = equations_of(json.at("next"));
  json.at("flow").get_to(system.integration.flow);
  system.integration.order = whole_number(json, "order");
  system.integration.substeps = whole_number(json, "substeps");
  system.measure = equations_of(json.at("measure"));
  for (const Json& each : json.at("initial"))
    system.initial.push_back({each.at("name").get<std::string>(), each.at("mean").get<double>(),
                              each.at("std").get<double>()});
  return system;
}

Json parts_json(const std::vector<prior::Part>& parts) {
  Json json = Json::array();
  for (const prior::Part& part : parts) {
    json.push_back({{"name", prior::part_entry(part.kind).name},
                    {"scale", part.scale},
                    {"count", part.count}});
    if (part.channel != prior::kAllChannels) json.back()["channel"] = part.channel;
  }
  return json;
}

std::vector<prior::Part> parts_of(const Json& json) {
  std::vector<prior::Part> parts;
  for (const Json& each : json) {
    parts.push_back({prior::part_of_name(each.at("name").get<std::string>()),
                     each.at("scale").get<double>(), whole_number(each, "count")});
    if (each.contains("channel")) parts.back().channel = whole_number(each, "channel");
  }
  return parts;
}

// What a file calls the order is the number of lags here.
bool orders_lags(const prior::ExpertSpec& spec) { return spec.kind == prior::PriorKind::Ar; }

}  // namespace

Json expert_json(const prior::ExpertSpec& spec) {
  Json json = {{"name", prior::prior_name(spec.kind)}};
  const prior::Integration& integration = spec.integration;
  const int order = orders_lags(spec) ? spec.lags : integration.order;
  if (integration.flow) json["flow"] = prior::flow_name(*integration.flow);
  if (order != 0) json["order"] = order;
  if (integration.substeps != 0) json["substeps"] = integration.substeps;
  if (spec.departure != 0) json["departure"] = spec.departure;
  if (spec.degree != 1) {
    json["degree"] = spec.degree;
    json["frame"] = {{"centre", spec.frame.centre},
                     {"whitening", spec.frame.whitening},
                     {"step", spec.frame.step},
                     {"dt", spec.frame.dt}};
  }
  if (!spec.parts.empty()) json["parts"] = parts_json(spec.parts);
  if (spec.latent != 0) json["latent"] = spec.latent;
  if (!spec.system.empty()) json["system"] = system_json(spec.system);
  return json;
}

prior::ExpertSpec expert_from_json(const Json& json) {
  prior::ExpertSpec spec;
  spec.kind = prior::prior_of_name(json.at("name").get<std::string>());
  prior::Integration& integration = spec.integration;
  if (json.contains("flow"))
    integration.flow = prior::flow_of_name(json.at("flow").get<std::string>(), "", true);
  if (json.contains("order"))
    (orders_lags(spec) ? spec.lags : integration.order) = whole_number(json, "order");
  if (json.contains("substeps")) integration.substeps = whole_number(json, "substeps");
  spec.departure = json.value("departure", spec.departure);
  if (json.contains("degree")) spec.degree = whole_number(json, "degree");
  if (json.contains("frame")) {
    const Json& frame = json.at("frame");
    frame.at("centre").get_to(spec.frame.centre);
    frame.at("whitening").get_to(spec.frame.whitening);
    frame.at("step").get_to(spec.frame.step);
    frame.at("dt").get_to(spec.frame.dt);
  }
  if (json.contains("parts")) spec.parts = parts_of(json.at("parts"));
  if (json.contains("latent")) spec.latent = whole_number(json, "latent");
  if (json.contains("system")) spec.system = system_of(json.at("system"));
  return spec;
}

}  // namespace kalmia::model
