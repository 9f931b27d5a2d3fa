#include "config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "kalmia/error.hpp"
#include "suggest.hpp"
#include "toml_values.hpp"

namespace kalmia::cli {
namespace {

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw IoError(path + ": is a directory, but a configuration is a file");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf() || file.eof()))
    throw IoError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text.str();
}

// Walks through a file's keys and keeps what is wrong with them.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  // Declares the key `<table>.<name>`; a table's name is empty at the top. Sets `value` if the file
  // has it.
  template <typename T>
  void key(const toml::table* table, const std::string& table_name, const char* name, T& value) {
    known_.push_back(qualified(table_name, name));
    if (!table) return;
    const toml::node* node = table->get(name);
    if (node && !read_toml(*node, value)) {
      problem(node->source(), fmt::format("{} = {}, but it must be {}", known_.back(),
                                          toml_text(*node), toml_rule(value)));
    }
  }

  template <typename Options>
  void table(const toml::table* table, const std::string& name, Options& options) {
    visit_fields(options, [&](const char* field, auto& value, const char*) {
      key(table, name, field, value);
    });
  }

  // The table of that name; null if the file has none.
  const toml::table* find_table(const toml::table& root, const char* name) {
    const toml::node* node = root.get(name);
    if (!node) return nullptr;
    if (!node->is_table())
      problem(node->source(),
              fmt::format("{} = {}, but it must be a table: [{}]", name, toml_text(*node), name));
    return node->as_table();
  }

  // Complains about every key that was not declared.
  void check_unknown(const toml::table& table, const std::string& table_name) {
    for (const auto& [key, node] : table) {
      const std::string name = qualified(table_name, std::string(key.str()));
      const bool is_known_table = table_name.empty() && node.is_table() && is_table_name(name);
      if (is_known_table || std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      problem(key.source(), fmt::format("unknown key {}{}", name, suggestion(name)));
    }
  }

  void throw_problems() const {
    if (!problems_.empty()) throw ConfigError(problems_);
  }

 private:
  static std::string qualified(const std::string& table, const std::string& name) {
    return table.empty() ? name : table + "." + name;
  }

  bool is_table_name(const std::string& name) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&name](const std::string& known) { return known.starts_with(name + "."); });
  }

  // A known key of the same name in another table is a better guess than a similar name.
  std::string suggestion(const std::string& name) const {
    const std::string last = fmt::format(".{}", name.substr(name.rfind('.') + 1));
    for (const std::string& known : known_) {
      if (known.ends_with(last)) return "; did you mean " + known + "?";
    }
    return did_you_mean(name, known_);
  }

  void problem(const toml::source_region& where, const std::string& text) {
    problems_ +=
        fmt::format("{}{}:{}: {}", problems_.empty() ? "" : "\n", path_, where.begin.line, text);
  }

  std::string path_;
  std::vector<std::string> known_;
  std::string problems_;
};

toml::table parse(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
}

// Names in a configuration are relative to its folder, wherever the program is started.
void resolve(const std::string& config, std::string& file) {
  namespace fs = std::filesystem;
  if (file.empty() || file == "-" || fs::path(file).is_absolute()) return;
  file = (fs::path(config).parent_path() / file).string();
}

}  // namespace

bool is_config(const std::string& path) { return path.ends_with(".toml"); }

FitConfig read_fit_config(const std::string& path) {
  const toml::table root = parse(path);
  FitConfig config;
  Reader reader(path);
  const toml::table* const data = reader.find_table(root, "data");
  const toml::table* const model = reader.find_table(root, "model");
  const toml::table* const train = reader.find_table(root, "train");
  reader.key(&root, "", "output", config.output);
  reader.key(data, "data", "file", config.file);
  reader.table(data, "data", config.data);
  reader.table(model, "model", config.fit.model);
  reader.table(train, "train", config.fit.train);
  reader.check_unknown(root, "");
  if (data) reader.check_unknown(*data, "data");
  if (model) reader.check_unknown(*model, "model");
  if (train) reader.check_unknown(*train, "train");
  reader.throw_problems();
  resolve(path, config.file);
  resolve(path, config.output);
  return config;
}

}  // namespace kalmia::cli
