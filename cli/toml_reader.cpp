#include "toml_reader.hpp"

#include <algorithm>
#include <tuple>

#include "base/suggest.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

std::string qualified(const std::string& table, const std::string& name) {
  return table.empty() ? name : table + "." + name;
}

}  // namespace

std::string TomlReader::declare(const std::string& table_name, const std::string& name) {
  return known_.emplace_back(qualified(table_name, name));
}

const toml::table* TomlReader::find_table(const toml::table& parent, const std::string& parent_name,
                                          const char* name) {
  const std::string full = declare(parent_name, name);
  const toml::node* node = parent.get(name);
  if (!node) return nullptr;
  if (!node->is_table()) wrong_type(*node, full, "a table: [" + full + "]");
  return node->as_table();
}

void TomlReader::check_unknown(const toml::table& table, const std::string& table_name) {
  for (const auto& [key, node] : table) {
    const std::string name = qualified(table_name, std::string(key.str()));
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    problem(key.source(), fmt::format("unknown key {}{}", name, suggestion(name)));
  }
}

// A known key of the same name in another table is a better guess than a similar name in this one.
std::string TomlReader::suggestion(const std::string& name) const {
  const std::string table = name.substr(0, name.rfind('.') + 1);  // npos + 1 is 0
  const std::string last = name.substr(table.size());
  std::vector<std::string> siblings;
  for (const std::string& known : known_) {
    if (known == last || known.ends_with("." + last)) return "; did you mean " + known + "?";
    if (known.starts_with(table) && known.find('.', table.size()) == std::string::npos)
      siblings.push_back(known.substr(table.size()));
  }
  const std::string near = kalmia::suggestion(last, siblings);
  return near.empty() ? "" : "; did you mean " + table + near + "?";
}

void TomlReader::throw_problems() {
  if (problems_.empty()) return;
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [line, problem] : problems_)
    text += fmt::format("{}{}:{}: {}", text.empty() ? "" : "\n", path_, line, problem);
  throw ConfigError(text);
}

std::vector<NamedNode> in_file_order(const toml::table& table) {
  std::vector<NamedNode> entries;
  for (const auto& [key, node] : table)
    entries.push_back({std::string(key.str()), &node, key.source()});
  std::sort(entries.begin(), entries.end(), [](const NamedNode& a, const NamedNode& b) {
    return std::tie(a.where.begin.line, a.where.begin.column) <
           std::tie(b.where.begin.line, b.where.begin.column);
  });
  return entries;
}

}  // namespace kalmia::cli
