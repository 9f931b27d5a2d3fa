// kalmia info: what a model file holds.
#include <fmt/format.h>

#include "command.hpp"
#include "kalmia/model.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

std::string number(const Json& value) {
  return value.is_null() ? "" : fmt::format("{:.6g}", value.get<double>());
}

// What the summary of the fit says of a learned parameter: " +- 0.031", or "not identifiable, "
// before the rest in brackets.
struct Learned {
  std::string error, state;
};
Learned learned_text(const Json& info, const std::string& name) {
  const Json summary = info.value("training", Json::object()).value("summary", Json::object());
  const Json found = summary.value("static", Json::object()).value("parameters", Json::array());
  for (const Json& each : found) {
    if (each.value("name", "") != name) continue;
    const std::string state = each.value("state", "");
    if (state == "determined")
      return {fmt::format(" +- {:.2g}", each.at("standard_error").get<double>()), ""};
    if (state == "not_identifiable") return {"", ", not identifiable"};
    if (state == "did_not_move") return {"", ", did not move"};
    if (state == "at_bound") return {"", ", at its bound"};
  }
  return {};
}

// "sigma 9.98 +- 0.012 (learned, in 0..100), beta 2.66667"; entries of a departure are only
// counted.
std::string parameters_text(const Json& info) {
  const Json& theta = info.at("theta");
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  int departures = 0;
  for (const Json& each : theta) {
    const auto name = each.at("name").get<std::string>();
    if (name.starts_with("departure of ")) {
      ++departures;
      continue;
    }
    const std::string lower = number(each.at("lower")), upper = number(each.at("upper"));
    const std::string bounds =
        lower.empty() && upper.empty() ? "" : fmt::format(", in {}..{}", lower, upper);
    const bool learned = each.at("learned").get<bool>();
    const Learned known = learned ? learned_text(info, name) : Learned{};
    add(name + " " + number(each.at("value")) + known.error +
        (learned ? " (learned" + bounds + known.state + ")" : ""));
  }
  if (departures > 0) add(fmt::format("{} of the departure (--json shows them)", departures));
  return text;
}

void add_equations(const Json& equations, const char* form, Json& rows) {
  for (const Json& each : equations)
    rows.push_back(
        {fmt::format("{} = {}", fmt::format(fmt::runtime(form), each[0].get<std::string>()),
                     each[1].get<std::string>())});
}

// The equations of a system, one a line, as they were written.
Json equations_of(const Json& system) {
  Json rows = Json::array();
  add_equations(system.at("define"), "{}", rows);
  add_equations(system.at("ode"), "d{}/dt", rows);
  add_equations(system.at("next"), "next {}", rows);
  std::size_t i = 0;
  for (const Json& row : system.at("matrix")) {
    std::string text;
    for (const Json& entry : row) text += (text.empty() ? "" : ", ") + entry.get<std::string>();
    rows.push_back(
        {fmt::format("row of d{}/dt: {}", system.at("states")[i++].get<std::string>(), text)});
  }
  add_equations(system.at("measure"), "measured {}", rows);
  for (const Json& each : system.at("initial"))
    rows.push_back({fmt::format("initial {} = {} +- {}", each.at("name").get<std::string>(),
                                number(each.at("mean")), number(each.at("std")))});
  return rows;
}

// "y1: season, 24 steps, 3 harmonics", one part a line; without a channel, all have it.
Json parts_of(const Json& parts, const Json& measured) {
  Json rows = Json::array();
  for (const Json& each : parts) {
    const auto name = each.at("name").get<std::string>();
    std::string text = name;
    if (measured.size() == 1)
      text = measured[0].get<std::string>() + ": " + name;
    else if (each.contains("channel"))
      text = measured[each.at("channel").get<std::size_t>()].get<std::string>() + ": " + name;
    if (each.at("scale") > 0) text += fmt::format(", {} steps", number(each.at("scale")));
    if (each.at("count") > 0)
      text +=
          fmt::format(", {} {}", each.at("count").get<int>(), name == "ar" ? "lags" : "harmonics");
    rows.push_back({text});
  }
  return rows;
}

Json readable_prior(const Json& prior, const Json& measured) {
  Json shown = prior;
  if (prior.contains("parts")) shown["parts"] = parts_of(prior.at("parts"), measured);
  if (!prior.contains("system")) return shown;
  const Json& system = prior.at("system");
  shown.erase("system");
  for (const char* key : {"flow", "order", "substeps"}) shown.erase(key);
  if (!system.at("inputs").empty()) shown["inputs"] = system.at("inputs");
  if (system.at("next").empty()) {
    const auto flow = system.at("flow").get<std::string>();
    shown["flow"] = !flow.empty() ? flow : system.at("matrix").empty() ? "rk4" : "frozen";
    const char* const detail = shown["flow"] == "rk4" ? "substeps" : "order";
    shown[detail] = system.at(detail);
  }
  shown["equations"] = equations_of(system);
  return shown;
}

// What is there for programs, put for people.
Json readable(const Json& info) {
  Json shown;
  for (const auto& [key, value] : info.items()) {
    if (key == "prior")
      shown[key] = readable_prior(value, info.at("measured"));
    else if (key == "theta")
      shown["parameters"] = parameters_text(info);
    else if (key == "parameters")
      shown["network_parameters"] = value;
    else
      shown[key] = value;
  }
  return shown;
}

}  // namespace

void run_info(const Arguments& arguments) {
  Parser parser(
      "info",
      "Shows what a model file holds: equations and parameters, options, scaling and how\n"
      "training went.",
      "kalmia info lorenz.kalmia\n"
      "kalmia info lorenz.kalmia --json");
  std::string file;
  CommonOptions common;
  parser.positional("MODEL", "model file made by kalmia fit", file);
  common.add_to(parser);
  if (!parser.parse(arguments)) return;
  const std::string info = Model::load(file).info_json();
  print(common.json ? lines(info) : json_as_text(readable(Json::parse(info))));
}

}  // namespace kalmia::cli
