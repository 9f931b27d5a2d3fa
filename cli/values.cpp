#include "values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

template <typename T>
void read_number(const std::string& name, std::string_view text, const char* rule, T& value) {
  const char* const end = text.data() + text.size();
  T number{};
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  bool good = error == std::errc{} && rest == end;
  if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(number);
  if (!good) throw ConfigError(fmt::format("{} = {}, but it must be {}", name, text, rule));
  value = number;
}

// A part in quotes, with those inside doubled, as a field of CSV is. Returns where the part ends,
// at a comma or the end of the text; npos: it is not quoted so.
std::size_t quoted_part(std::string_view text, std::size_t begin, std::string& part) {
  constexpr std::size_t kNot = std::string_view::npos;
  std::size_t at = text.find_first_not_of(' ', begin);
  if (at == kNot || text[at] != '"') return kNot;
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') {
      part += text[at];
    } else if (text.substr(at + 1, 1) == "\"") {
      part += text[at++];
    } else {
      const std::size_t end = std::min(text.find_first_not_of(' ', at + 1), text.size());
      return end == text.size() || text[end] == ',' ? end : kNot;
    }
  }
  return kNot;
}

}  // namespace

void read_value(const std::string& name, const Texts& texts, int& value) {
  read_number(name, texts.back(), "a whole number (of at most 2147483647)", value);
}

void read_value(const std::string& name, const Texts& texts, std::uint64_t& value) {
  read_number(name, texts.back(), "a whole number >= 0", value);
}

void read_value(const std::string& name, const Texts& texts, double& value) {
  read_number(name, texts.back(), "a number", value);
}

void read_value(const std::string&, const Texts& texts, std::string& value) {
  value = texts.back();
}

void read_value(const std::string& name, const Texts& texts, std::vector<int>& value) {
  std::vector<std::string> parts;
  read_value(name, texts, parts);
  value.clear();
  for (const std::string& part : parts)
    read_number(name, part, "whole numbers separated by commas", value.emplace_back());
}

void read_value(const std::string&, const Texts& texts, std::vector<std::string>& value) {
  value.clear();
  for (const std::string& text : texts)
    for (std::string& part : split_at_commas(text)) value.push_back(std::move(part));
}

std::string value_text(int value) { return std::to_string(value); }
std::string value_text(std::uint64_t value) { return std::to_string(value); }
std::string value_text(double value) { return fmt::format("{}", value); }
std::string value_text(const std::string& value) { return value; }
std::string value_text(const std::vector<int>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string value_text(const std::vector<std::string>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}

std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::string quoted;
    if (const std::size_t end = quoted_part(text, begin, quoted); end != std::string_view::npos) {
      parts.push_back(std::move(quoted));
      begin = end + 1;
      continue;
    }
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

}  // namespace kalmia::cli
