#include "config.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kalmia/error.hpp"
#include "system_config.hpp"
#include "toml_nesting.hpp"
#include "toml_reader.hpp"

namespace kalmia::cli {
namespace {

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw IoError(path + ": is a directory, but a configuration is a file");
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad())
    throw IoError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text;
}

toml::table parse(const std::string& path) {
  const std::string text = read_text(path);
  check_toml_nesting(path, text);
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

// The library names options without their table.
void add_places(const toml::table& table, const std::string& name, const TomlReader& reader,
                Places& places) {
  for (const auto& [key, node] : table)
    places[std::string(key.str())] =
        fmt::format("{}: {}.{}", reader.line_of(node.source()), name, key.str());
}

// Equations take the place of a prior, and say themselves how they become the map of a step.
void use_system(const toml::table& system, const toml::table* model, TomlReader& reader,
                FitConfig& config) {
  read_system(system, reader, config.fit.model.system, config.places);
  std::string& prior = config.fit.model.prior;
  if (prior != "auto" && !takes_equations(prior))
    reader.problem(
        model->get("prior")->source(),
        fmt::format("model.prior = \"{}\", but the file has equations in [system]; leave "
                    "one of them out, or add parts to the equations: \"system + level\"",
                    prior));
  for (const char* name : {"flow", "order", "substeps"}) {
    const toml::node* node = model ? model->get(name) : nullptr;
    if (node)
      reader.problem(node->source(), fmt::format("model.{} does not apply to the equations in "
                                                 "[system]; move it there: system.{}",
                                                 name, name));
  }
  if (prior == "auto") prior = "system";
}

}  // namespace

bool is_config(const std::string& path) { return path.ends_with(".toml"); }

FitConfig read_fit_config(const std::string& path) {
  const toml::table root = parse(path);
  FitConfig config;
  TomlReader reader(path);
  const toml::table* const data = reader.find_table(root, "", "data");
  const toml::table* const model = reader.find_table(root, "", "model");
  const toml::table* const train = reader.find_table(root, "", "train");
  const toml::table* const system = reader.find_table(root, "", "system");
  reader.key(&root, "", "output", config.output);
  reader.key(data, "data", "file", config.file);
  reader.key(data, "data", "validation", config.validation);
  reader.table(data, "data", config.data);
  reader.table(model, "model", config.fit.model);
  reader.table(train, "train", config.fit.train);
  if (model) add_places(*model, "model", reader, config.places);
  if (train) add_places(*train, "train", reader, config.places);
  if (system) use_system(*system, model, reader, config);
  reader.check_unknown(root, "");
  if (data) reader.check_unknown(*data, "data");
  if (model) reader.check_unknown(*model, "model");
  if (train) reader.check_unknown(*train, "train");
  reader.throw_problems();
  config.idle = config.fit.without_effect(!config.validation.empty());
  resolve(path, config.file);
  resolve(path, config.validation);
  resolve(path, config.output);
  return config;
}

}  // namespace kalmia::cli
