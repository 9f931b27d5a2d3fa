/// \file
/// Reads the tables of a configuration file and keeps everything that is wrong with them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "toml_values.hpp"

namespace kalmia::cli {

/// One entry of a table whose keys are the user's own names.
struct NamedNode {
  std::string name;
  const toml::node* node = nullptr;
  toml::source_region where;  ///< of the name
};

/// Walks through a file's keys. Tables are named by the keys that lead to them, "system.ode"; the
/// file itself by "".
class TomlReader {
 public:
  explicit TomlReader(std::string path) : path_(std::move(path)) {}

  /// Declares the key `name` of a table and sets `value` if the file has it; `table` is null if the
  /// file has no such table.
  template <typename T>
  void key(const toml::table* table, const std::string& table_name, const char* name, T& value) {
    const std::string full = declare(table_name, name);
    const toml::node* node = table ? table->get(name) : nullptr;
    if (node && !read_toml(*node, value)) wrong_type(*node, full, toml_rule(value));
  }

  /// The same for all fields of an options struct.
  template <typename Options>
  void table(const toml::table* table, const std::string& name, Options& options) {
    visit_fields(options, [&](const char* field, auto& value, const char*, const auto&...) {
      key(table, name, field, value);
    });
  }

  /// Declares a table; null if the file has none.
  const toml::table* find_table(const toml::table& parent, const std::string& parent_name,
                                const char* name);

  /// Complains about every key that was not declared.
  void check_unknown(const toml::table& table, const std::string& table_name);

  /// Makes a name known, which is returned in full.
  std::string declare(const std::string& table_name, const std::string& name);

  void problem(const toml::source_region& where, const std::string& text) {
    problems_.emplace_back(where.begin.line, text);
  }
  /// `<name> = <value>, but it must be <rule>`.
  void wrong_type(const toml::node& node, const std::string& name, const std::string& rule) {
    problem(node.source(), fmt::format("{} = {}, but it must be {}", name, toml_text(node), rule));
  }

  /// "fit.toml:12".
  std::string line_of(const toml::source_region& where) const {
    return fmt::format("{}:{}", path_, where.begin.line);
  }

  /// Throws ConfigError with all problems, a line for each, in the order of the file.
  void throw_problems();

 private:
  std::string suggestion(const std::string& name) const;

  std::string path_;
  std::vector<std::string> known_;
  std::vector<std::pair<toml::source_index, std::string>> problems_;
};

/// The entries of a table in the order of the file; toml::table has them in that of the alphabet.
std::vector<NamedNode> in_file_order(const toml::table& table);

}  // namespace kalmia::cli
