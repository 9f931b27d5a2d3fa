#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kalmia/text.hpp"
#include "output.hpp"

namespace kalmia::cli {
namespace {

// Longer arrays of numbers are shown by their beginning.
constexpr std::size_t kShownEntries = 12;

std::string scalar_text(const Json& value) {
  if (value.is_null() || value == "") return "none";
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_flat(const Json& value) {
  return !value.is_object() &&
         (!value.is_array() || std::all_of(value.begin(), value.end(),
                                           [](const Json& entry) { return entry.is_primitive(); }));
}

std::string flat_text(const Json& value) {
  if (!value.is_array()) return scalar_text(value);
  std::string text;
  for (std::size_t i = 0; i < std::min(value.size(), kShownEntries); ++i)
    text += (i ? ", " : "") + scalar_text(value[i]);
  if (value.size() > kShownEntries) text += fmt::format(", ... ({} in all)", value.size());
  return text.empty() ? "none" : text;
}

std::string label(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return printable(key);
}

void add_object(const Json& object, std::size_t indent, std::string& text);

void add_entry(const std::string& key, const Json& value, std::size_t width, std::size_t indent,
               std::string& text) {
  const std::string margin(indent, ' ');
  if (is_flat(value)) {
    text += fmt::format("{}{:<{}}  {}\n", margin, label(key) + ":", width + 1, flat_text(value));
  } else if (value.is_object()) {
    text += fmt::format("{}{}:\n", margin, label(key));
    add_object(value, indent + 2, text);
  } else if (value.front().is_array()) {
    text += fmt::format("{}{}:\n", margin, label(key));
    for (const Json& row : value) text += fmt::format("{}  {}\n", margin, flat_text(row));
  } else {
    text += fmt::format("{}{:<{}}  {} entries (--json shows them)\n", margin, label(key) + ":",
                        width + 1, value.size());
  }
}

void add_object(const Json& object, std::size_t indent, std::string& text) {
  std::size_t width = 0;
  for (const auto& [key, value] : object.items())
    if (is_flat(value)) width = std::max(width, key.size());
  for (const auto& [key, value] : object.items()) add_entry(key, value, width, indent, text);
}

}  // namespace

void print_json(const Json& json) {
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json with_output(std::string_view json, const std::string& output) {
  Json result;
  result["output"] = output;
  result.update(Json::parse(json));
  return result;
}

std::string json_as_text(const Json& json) {
  std::string text;
  if (json.is_object())
    add_object(json, 0, text);
  else
    text = flat_text(json) + "\n";
  return text;
}

std::string lines(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace kalmia::cli
