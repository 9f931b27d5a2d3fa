#include "kalmia/reproduce_audio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/suggest.hpp"
#include "kalmia/option_rules.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/audio_rows.hpp"
#include "reproduce/audio_runner.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/result_json.hpp"

namespace kalmia {
namespace {

using namespace reproduction;
namespace fs = std::filesystem;

constexpr const char* kVariable = "KALMIA_SPEECH_COMMANDS";
constexpr int kMostUtterances = 100000;

std::vector<std::string> default_folders() {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return {"speech_commands"};
  std::vector<std::string> folders;
  std::istringstream text(value);
  for (std::string folder; std::getline(text, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

void make_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw IoError(folder + ": cannot be made (" + error.message() +
                  "); give another folder with --out");
}

void write_files(const AudioReproduction& result) {
  if (result.options.out.empty()) return;
  const auto write = [&result](const char* name, const std::string& content) {
    write_file_atomically((fs::path(result.options.out) / name).string(), content);
  };
  write("rows.csv", result.to_csv());
  write("rows.json", result.to_json() + "\n");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

AudioOptions AudioOptions::resolved() const {
  AudioOptions full = *this;
  if (full.data.empty()) full.data = default_folders();
  const std::vector<std::string> all = noise_names();
  for (const std::string& noise : noises)
    if (!contains(all, noise))
      throw ConfigError(fmt::format("noises: there is no noise \"{}\"{}, but {}", noise,
                                    did_you_mean(noise, all), fmt::join(all, ", ")));
  if (full.noises.empty()) full.noises = all;
  (void)audio_tasks_with(methods);
  if (full.training == 0) full.training = quick ? 40 : 4000;
  if (full.validation == 0) full.validation = quick ? 10 : 100;
  if (full.test == 0) full.test = quick ? 20 : 250;
  std::string wrong;
  const auto require = [&wrong](int value, const char* name, int low, int high) {
    if (value < low || value > high)
      wrong += fmt::format("\n  {} = {}, but it must be in {}..{}", name, value, low, high);
  };
  require(full.training, "training", 1, kMostUtterances);
  require(full.validation, "validation", 1, kMostUtterances);
  require(full.test, "test", 1, kMostUtterances);
  require(threads, "threads", 0, static_cast<int>(kThreadsRange.largest));
  if (!wrong.empty()) throw ConfigError("reproduce audio: invalid options:" + wrong);
  return full;
}

std::vector<AudioMethod> audio_methods() {
  std::vector<AudioMethod> methods;
  for (const AudioTask& task : audio_tasks())
    methods.insert(methods.end(), task.methods.begin(), task.methods.end());
  return methods;
}

std::vector<std::string> audio_noises() { return noise_names(); }

AudioReproduction reproduce_audio(const AudioOptions& given,
                                  const std::function<bool(const ReproduceProgress&)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  AudioReproduction result;
  result.started = utc_now();
  result.options = given.resolved();
  const AudioOptions& options = result.options;
  const std::vector<AudioTask> tasks = audio_tasks_with(options.methods);
  const auto wanted = [&options](const std::string& name) {
    return options.methods.empty() || contains(options.methods, name);
  };
  for (const AudioTask& task : tasks)
    for (const AudioMethod& method : task.methods)
      if (wanted(method.name)) result.methods.push_back(method);
  SpeechData data =
      read_speech(options.data, {options.training, options.validation, options.test}, options.seed);
  result.training = static_cast<int>(data.of(Part::Training).size());
  result.validation = static_cast<int>(data.of(Part::Validation).size());
  result.test = static_cast<int>(data.of(Part::Test).size());
  make_folder(options.out);
  const SpeechMixer mixer(std::move(data), options.seed);
  const auto take = [&](std::vector<AudioRow> rows) {
    std::erase_if(rows, [&](const AudioRow& row) { return !wanted(row.method); });
    result.rows = std::move(rows);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    write_files(result);
  };
  AudioRun run = run_audio(tasks, mixer, options, progress, take);
  result.complete = run.complete;
  // Nothing to show must not take the place of an earlier run's rows.
  if (!run.rows.empty()) take(std::move(run.rows));
  return result;
}

std::string AudioReproduction::to_text() const { return audio_text(*this); }
std::string AudioReproduction::to_json() const { return audio_json(*this).dump(2); }
std::string AudioReproduction::to_csv() const { return audio_csv(rows); }

}  // namespace kalmia
