#include "equation_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kEquation = "NAME = EXPRESSION";
constexpr const char* kParameter =
    "NAME = NUMBER, NAME = NUMBER learn or NAME = NUMBER in LOW..HIGH";
constexpr const char* kInitial = "NAME = MEAN +- STD";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// The text of an option, and how to complain about it.
struct OptionText {
  const char* option;
  const std::string& text;
  const char* form;

  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError(fmt::format("{} \"{}\": {}, but it must be {}", option, text, why, form));
  }

  double number(std::string_view part) const {
    double value = 0;
    const char* const end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc{} || rest != end || !std::isfinite(value))
      refuse(part.empty() ? "a number is missing" : fmt::format("\"{}\" is no number", part));
    return value;
  }

  // NAME = REST.
  Equation split() const {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) refuse("there is no =");
    const std::string_view name = trimmed(std::string_view(text).substr(0, equals));
    const std::string_view rest = trimmed(std::string_view(text).substr(equals + 1));
    if (name.empty()) refuse("there is no name before the =");
    if (rest.empty()) refuse("there is nothing after the =");
    return {std::string(name), std::string(rest)};
  }
};

void read_bounds(const OptionText& from, std::string_view range, Parameter& parameter) {
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos) from.refuse(fmt::format("\"{}\" is no range", range));
  const std::string_view low = trimmed(range.substr(0, dots));
  const std::string_view high = trimmed(range.substr(dots + 2));
  if (low.empty() && high.empty()) from.refuse("the range has no bound");
  if (!low.empty()) parameter.lower = from.number(low);
  if (!high.empty()) parameter.upper = from.number(high);
}

Parameter read_parameter(const char* option, const std::string& text) {
  const OptionText from{option, text, kParameter};
  const Equation parts = from.split();
  const std::string_view given = parts.text;
  const std::size_t blank = std::min(given.find_first_of(" \t"), given.size());
  const std::string_view rule = trimmed(given.substr(blank));
  Parameter parameter;
  parameter.name = parts.name;
  parameter.value = from.number(given.substr(0, blank));
  parameter.learn = !rule.empty();
  if (rule.starts_with("in ")) {
    read_bounds(from, trimmed(rule.substr(3)), parameter);
  } else if (!rule.empty() && rule != "learn") {
    from.refuse(fmt::format("\"{}\" follows the number", rule));
  }
  return parameter;
}

InitialState read_initial(const char* option, const std::string& text) {
  const OptionText from{option, text, kInitial};
  const Equation parts = from.split();
  const std::string_view given = parts.text;
  const std::size_t sign = given.find("+-");
  if (sign == std::string_view::npos) from.refuse("there is no +-");
  return {parts.name, from.number(trimmed(given.substr(0, sign))),
          from.number(trimmed(given.substr(sign + 2)))};
}

// Replaces entries of the same name, adds the others, and remembers where they come from.
template <typename Entry>
void merge(const std::vector<Entry>& given, const char* option, const std::string& table,
           std::vector<Entry>& entries, Places& places) {
  if (!given.empty()) places.emplace(table, option);
  for (const Entry& each : given) {
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& entry) { return entry.name == each.name; });
    if (same != entries.end())
      *same = each;
    else
      entries.push_back(each);
    places[table + "." + each.name] = fmt::format("{} {}", option, each.name);
  }
}

template <typename Entry>
bool has_name(const std::vector<Entry>& entries, const std::string& name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.name == name; });
}

bool is_name(const std::string& text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

void EquationOptions::equations(Parser& parser, const char* name, const char* help,
                                std::vector<Equation>& into) {
  parser.option({name, "EQUATION", help, ""}, [this, name, &into](const Texts& texts) {
    note(name);
    for (const std::string& text : texts) into.push_back(OptionText{name, text, kEquation}.split());
  });
}

void EquationOptions::add_to(Parser& parser) {
  parser.group("Your own equations (docs/experts.md; --flow, --order and --substeps apply)");
  parser.option({"--states", "NAME,...", "the states (default: those of the equations)", ""},
                [this](const Texts& texts) {
                  note("--states");
                  read_value("--states", texts, given_.states);
                });
  equations(parser, "--ode", "a state's derivative by time: \"x = -k*x\"", given_.ode);
  equations(parser, "--next", "or a state after a step: \"x = 0.9*x\"", given_.next);
  equations(parser, "--measure-as",
            "what a measured column is a noisy value of: \"y1 = x^2\" (default: the state of its "
            "name)",
            given_.measure);
  equations(parser, "--define", "a name for an expression, used by later ones: \"d = x2 - x1\"",
            given_.define);
  parser.option(
      {"--parameter", "PARAMETER",
       "a number by name: \"k = 2\" is fixed, \"k = 2 learn\" learned, \"k = 2 in 0..10\" "
       "learned between bounds (either may be left out: 0..)",
       ""},
      [this](const Texts& texts) {
        note("--parameter");
        for (const std::string& text : texts)
          given_.parameters.push_back(read_parameter("--parameter", text));
      });
  parser.option({"--initial", "STATE",
                 "an unmeasured state before the first measurement, with its standard deviation: "
                 "\"v = 0 +- 5\"",
                 ""},
                [this](const Texts& texts) {
                  note("--initial");
                  for (const std::string& text : texts)
                    given_.initial.push_back(read_initial("--initial", text));
                });
}

void EquationOptions::apply_to(System& system, Places& places) const {
  if (!given_.states.empty()) {
    system.states = given_.states;
    places["system.states"] = places["prior system"] = "--states";
  }
  merge(given_.parameters, "--parameter", "system.parameters", system.parameters, places);
  merge(given_.define, "--define", "system.define", system.define, places);
  merge(given_.ode, "--ode", "system.ode", system.ode, places);
  merge(given_.next, "--next", "system.next", system.next, places);
  merge(given_.measure, "--measure-as", "system.measure", system.measure, places);
  merge(given_.initial, "--initial", "system.initial", system.initial, places);
  if (!system.states.empty()) return;
  for (const Equation& each : system.ode.empty() ? system.next : system.ode)
    system.states.push_back(each.name);
}

void add_inputs(const std::vector<std::string>& columns, System& system) {
  if (system.empty() || !system.inputs.empty()) return;
  const auto taken = [&system](const std::string& name) {
    return name == "dt" || name == "pi" || has_name(system.parameters, name) ||
           has_name(system.define, name) ||
           std::find(system.states.begin(), system.states.end(), name) != system.states.end();
  };
  for (const std::string& column : columns)
    if (is_name(column) && !taken(column)) system.inputs.push_back(column);
}

}  // namespace kalmia::cli
