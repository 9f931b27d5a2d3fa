#include "system_config.hpp"

#include <cmath>
#include <optional>

namespace kalmia::cli {
namespace {

constexpr const char* kExpression = "an expression as text, or a number";

// An expression: text, or a number in its place.
std::optional<std::string> expression(const toml::node& node) {
  std::string text;
  double number = 0;
  if (const auto* given = node.as_string()) return given->get();
  if (!read_toml(node, number) || !std::isfinite(number) || !read_toml(node, text)) return {};
  return text;
}

class SystemTableReader {
 public:
  SystemTableReader(const toml::table& table, TomlReader& reader, System& system, Places& places)
      : table_(table), reader_(reader), system_(system), places_(places) {}

  void read() {
    place("system", table_.source());
    // What cannot be seen is a state.
    const toml::node* states = table_.get("states");
    places_["prior system"] =
        reader_.line_of(states ? states->source() : table_.source()) + ": system";
    key("states", system_.states);
    key("inputs", system_.inputs);
    key("flow", system_.integration.flow);
    key("order", system_.integration.order);
    key("substeps", system_.integration.substeps);
    matrix();
    for (const auto& [entry, full] : entries("parameters")) parameter(entry, full);
    equations("define", system_.define);
    equations("ode", system_.ode);
    equations("next", system_.next);
    equations("measure", system_.measure);
    for (const auto& [entry, full] : entries("initial")) initial(entry, full);
    reader_.check_unknown(table_, "system");
  }

 private:
  void place(const std::string& name, const toml::source_region& where) {
    places_[name] = reader_.line_of(where) + ": " + name;
  }

  template <typename T>
  void key(const char* name, T& value) {
    reader_.key(&table_, "system", name, value);
    if (const toml::node* node = table_.get(name))
      place(std::string("system.") + name, node->source());
  }

  // The entries of a table in the order of the file, with their full names.
  std::vector<std::pair<NamedNode, std::string>> entries(const char* name) {
    std::vector<std::pair<NamedNode, std::string>> named;
    const toml::table* table = reader_.find_table(table_, "system", name);
    if (!table) return named;
    const std::string full = std::string("system.") + name;
    place(full, table->source());
    for (NamedNode& entry : in_file_order(*table)) {
      std::string entry_name = full + "." + entry.name;
      place(entry_name, entry.where);
      named.emplace_back(std::move(entry), std::move(entry_name));
    }
    return named;
  }

  void equations(const char* name, std::vector<Equation>& into) {
    for (const auto& [entry, full] : entries(name)) {
      if (std::optional<std::string> text = expression(*entry.node))
        into.push_back({entry.name, *std::move(text)});
      else
        reader_.wrong_type(*entry.node, full, kExpression);
    }
  }

  void parameter(const NamedNode& entry, const std::string& full) {
    Parameter& parameter = system_.parameters.emplace_back();
    parameter.name = entry.name;
    if (read_toml(*entry.node, parameter.value)) return;
    const toml::table* table = entry.node->as_table();
    if (!table) {
      reader_.wrong_type(*entry.node, full, "a number or a table: {value = 1, learn = true}");
      return;
    }
    reader_.key(table, full, "value", parameter.value);
    reader_.key(table, full, "learn", parameter.learn);
    reader_.key(table, full, "lower", parameter.lower);
    reader_.key(table, full, "upper", parameter.upper);
    reader_.check_unknown(*table, full);
    if (!table->contains("value"))
      reader_.problem(entry.where, full + " has no value; give one, where learning starts");
    if (!parameter.learn && !table->contains("learn") &&
        (table->contains("lower") || table->contains("upper")))
      reader_.problem(entry.where, full + " has bounds, but it is not learned; add learn = true");
  }

  void initial(const NamedNode& entry, const std::string& full) {
    InitialState& state = system_.initial.emplace_back();
    state.name = entry.name;
    const toml::table* table = entry.node->as_table();
    if (!table) {
      reader_.wrong_type(*entry.node, full, "a table: {mean = 0, std = 1}");
      return;
    }
    reader_.key(table, full, "mean", state.mean);
    reader_.key(table, full, "std", state.std);
    reader_.check_unknown(*table, full);
    if (!table->contains("std"))
      reader_.problem(entry.where, full + " has no std, the standard deviation; give one");
  }

  void matrix() {
    const std::string full = reader_.declare("system", "matrix");
    const toml::node* node = table_.get("matrix");
    if (!node) return;
    place(full, node->source());
    const toml::array* rows = node->as_array();
    if (!rows || rows->empty() || !rows->front().is_array()) {
      reader_.wrong_type(*node, full, R"(an array of rows: [["0", "1"], ["-k", "0"]])");
      return;
    }
    for (const toml::node& each : *rows) {
      std::vector<std::string>& row = system_.matrix.emplace_back();
      const std::string row_name = fmt::format("{}, row {}", full, system_.matrix.size());
      place(row_name, each.source());
      const toml::array* entries = each.as_array();
      if (!entries) {
        reader_.wrong_type(each, row_name, "an array");
        continue;
      }
      for (const toml::node& entry : *entries) {
        const std::optional<std::string> text = expression(entry);
        row.push_back(text.value_or(""));
        if (text) continue;
        reader_.wrong_type(entry, fmt::format("{}, column {}", row_name, row.size()), kExpression);
      }
    }
  }

  const toml::table& table_;
  TomlReader& reader_;
  System& system_;
  Places& places_;
};

}  // namespace

void read_system(const toml::table& table, TomlReader& reader, System& system, Places& places) {
  SystemTableReader(table, reader, system, places).read();
}

}  // namespace kalmia::cli
