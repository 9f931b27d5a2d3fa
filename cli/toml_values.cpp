#include "toml_values.hpp"

#include <limits>
#include <sstream>

#include "values.hpp"

namespace kalmia::cli {
namespace {

// A number as text.
bool number_text(const toml::node& node, std::string& text) {
  if (const auto* whole = node.as_integer()) {
    text = std::to_string(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    text = value_text(real->get());
  } else {
    return false;
  }
  return true;
}

// Numbers separated by commas.
bool row_text(const toml::array& row, std::string& text) {
  for (const toml::node& entry : row) {
    std::string number;
    if (!number_text(entry, number)) return false;
    text += (text.empty() ? "" : ",") + number;
  }
  return !row.empty();
}

}  // namespace

bool read_toml(const toml::node& node, bool& value) {
  const auto* given = node.as_boolean();
  if (given) value = given->get();
  return given != nullptr;
}

bool read_toml(const toml::node& node, int& value) {
  const auto* whole = node.as_integer();
  if (!whole || whole->get() < std::numeric_limits<int>::min() ||
      whole->get() > std::numeric_limits<int>::max()) {
    return false;
  }
  value = static_cast<int>(whole->get());
  return true;
}

bool read_toml(const toml::node& node, std::uint64_t& value) {
  const auto* whole = node.as_integer();
  if (!whole || whole->get() < 0) return false;
  value = static_cast<std::uint64_t>(whole->get());
  return true;
}

bool read_toml(const toml::node& node, double& value) {
  if (const auto* whole = node.as_integer()) {
    value = static_cast<double>(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    value = real->get();
  } else {
    return false;
  }
  return true;
}

bool read_toml(const toml::node& node, std::string& value) {
  if (const auto* text = node.as_string()) {
    value = text->get();
    return true;
  }
  if (number_text(node, value)) return true;
  const toml::array* rows = node.as_array();
  if (!rows || rows->empty()) return false;
  std::string text;
  if (!rows->front().is_array()) {
    if (!row_text(*rows, text)) return false;
  } else {
    // A single row would be taken for standard deviations.
    if (rows->size() == 1) return false;
    for (const toml::node& entry : *rows) {
      const toml::array* row = entry.as_array();
      std::string line;
      if (!row || !row_text(*row, line)) return false;
      text += (text.empty() ? "" : ";") + line;
    }
  }
  value = text;
  return true;
}

bool read_toml(const toml::node& node, std::vector<int>& value) {
  int single = 0;
  if (read_toml(node, single)) {
    value = {single};
    return true;
  }
  const toml::array* entries = node.as_array();
  if (!entries) return false;
  value.clear();
  for (const toml::node& entry : *entries) {
    if (!read_toml(entry, value.emplace_back())) return false;
  }
  return true;
}

bool read_toml(const toml::node& node, std::vector<std::string>& value) {
  if (const auto* text = node.as_string()) {
    value = split_at_commas(text->get());
    return true;
  }
  const toml::array* entries = node.as_array();
  if (!entries) return false;
  value.clear();
  for (const toml::node& entry : *entries) {
    const auto* text = entry.as_string();
    if (!text) return false;
    value.push_back(text->get());
  }
  return true;
}

const char* toml_rule(const bool&) { return "true or false"; }
const char* toml_rule(const int&) { return "a whole number"; }
const char* toml_rule(const std::uint64_t&) { return "a whole number >= 0"; }
const char* toml_rule(const double&) { return "a number"; }
const char* toml_rule(const std::string&) {
  return "text, a number, an array of numbers or an array of two or more rows";
}
const char* toml_rule(const std::vector<int>&) { return "an array of whole numbers"; }
const char* toml_rule(const std::vector<std::string>&) { return "an array of texts"; }

std::string toml_text(const toml::node& node) {
  constexpr std::size_t kLongest = 40;
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  std::string text = out.str();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace kalmia::cli
