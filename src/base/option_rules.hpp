// Rules of options, read from the rows of visit_fields: visit(name, field, description, rule),
// where the rule is a Range, the function that lists its Choices, or missing.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kalmia/option_rules.hpp"

namespace kalmia {

/// "a, b or c".
std::string alternatives(std::span<const Choice> choices);

/// "; did you mean a?", or nothing if no name is near.
std::string did_you_mean(std::string_view wrong, std::span<const Choice> choices);

/// The same two after one another, as in "but it must be a, b or c; did you mean a?".
std::string name_rule(std::string_view wrong, std::span<const Choice> choices);

/// The names and meanings of the rows of a table.
template <typename Entry>
std::vector<Choice> choices_in(std::span<const Entry> table) {
  std::vector<Choice> choices;
  for (const Entry& each : table) choices.push_back({each.name, each.meaning});
  return choices;
}

/// The range of one option, by the name in its row. An option without a range has no ends.
template <typename Options>
Range range_of(std::string_view option) {
  const Options defaults;
  Range found;
  const auto take = [&found](const auto& rule) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(rule)>, Range>) found = rule;
  };
  visit_fields(defaults, [&](std::string_view name, const auto&, const char*, const auto&... rule) {
    if (option == name) (static_cast<void>(take(rule)), ...);
  });
  return found;
}

/// "; left out, it is 16": of an option that is a number.
template <typename Options>
std::string default_text(std::string_view option) {
  const Options defaults;
  std::string text;
  visit_fields(defaults, [&](std::string_view name, const auto& value, const auto&...) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
      if (option == name) text = fmt::format("; left out, it is {}", value);
  });
  return text;
}

/// Numbers of a field that are out of a range; other fields and rules have none.
template <typename Field, typename Rule>
std::vector<double> outside(const Field& field, const Rule& rule) {
  std::vector<double> numbers;
  if constexpr (std::same_as<Rule, Range>) {
    if constexpr (std::is_arithmetic_v<Field>)
      numbers.push_back(static_cast<double>(field));
    else
      numbers.assign(field.begin(), field.end());
    std::erase_if(numbers, [&](double number) { return rule.holds(number); });
  }
  return numbers;
}

/// Adds "model.taps = 0, but it must be in 1..4096; left out, it is 16" for every number of
/// `options` that is out of its range; `table` is what stands before the names.
template <typename Options>
void add_range_violations(const Options& options, const std::string& table,
                          std::vector<std::string>& violations) {
  const auto check = [&]([[maybe_unused]] const char* name, const auto& field, const auto& rule) {
    for (const double number : outside(field, rule))
      if constexpr (std::same_as<std::remove_cvref_t<decltype(rule)>, Range>)
        violations.push_back(fmt::format("{}{} = {}, but it must be {}{}{}", table, name, number,
                                         std::isfinite(number) ? "" : "finite and ", rule.text(),
                                         default_text<Options>(name)));
  };
  visit_fields(options, [&]([[maybe_unused]] const char* name, const auto& field, const char*,
                            const auto&... rule) { (check(name, field, rule), ...); });
}

}  // namespace kalmia
