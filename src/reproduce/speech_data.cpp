#include "reproduce/speech_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "audio/sound_metrics.hpp"
#include "base/random.hpp"
#include "data/audio.hpp"
#include "data/csv_rows.hpp"
#include "data/file.hpp"
#include "data/text_number.hpp"
#include "kalmia/error.hpp"

namespace kalmia::reproduction {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndex = "index.csv";
constexpr const char* kNoiseFolder = "_background_noise_";
constexpr const char* kWhatToDo =
    "get the data with tools/fetch_speech_commands.py FOLDER and name it with --data FOLDER or "
    "KALMIA_SPEECH_COMMANDS";

struct Entry {
  std::string path;
  Part part;
};

// As the index calls the parts.
constexpr const char* kSplits[] = {"training", "validation", "testing"};

std::optional<Part> part_named(std::string_view split) {
  for (const Part part : kParts)
    if (split == kSplits[static_cast<std::size_t>(part)]) return part;
  return std::nullopt;
}

std::size_t column_named(const std::vector<data::Cell>& header, const char* name,
                         const std::string& path) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i].text == name) return i;
  throw DataError(
      fmt::format("{}:1: there is no column {}, but file, class and split are needed", path, name));
}

// The utterances of the words in a folder's index.
void add_entries(const std::string& folder, std::vector<Entry>& entries) {
  const std::string path = (fs::path(folder) / kIndex).string();
  if (!fs::exists(path))
    throw IoError(fmt::format("{}: there is no {} here; {}", folder, kIndex, kWhatToDo));
  const std::string text = data::read_file_bytes(path);
  data::CsvRows rows(path, text, ',');
  if (!rows.next()) throw DataError(path + ": it is empty, but a line with names is needed");
  const std::size_t file = column_named(rows.fields(), "file", path),
                    word = column_named(rows.fields(), "class", path),
                    split = column_named(rows.fields(), "split", path);
  const std::size_t columns = rows.fields().size();
  while (rows.next()) {
    if (rows.blank()) continue;
    if (rows.fields().size() != columns)
      throw DataError(fmt::format("{}:{}: {} fields, but the first line has {}", path, rows.line(),
                                  rows.fields().size(), columns));
    const std::string_view name = rows.fields()[word].text;
    if (std::find(std::begin(kWords), std::end(kWords), name) == std::end(kWords)) continue;
    const std::optional<Part> part = part_named(rows.fields()[split].text);
    if (!part)
      throw DataError(
          fmt::format("{}:{}: split is {}, but it must be training, validation or testing", path,
                      rows.line(), data::in_quotes(rows.fields()[split].text)));
    entries.push_back({(fs::path(folder) / std::string(rows.fields()[file].text)).string(), *part});
  }
}

Sound read_recording(const std::string& path) {
  const data::Sound sound = data::read_sound(path, data::read_file_bytes(path));
  if (sound.channels != 1 || sound.rate != kSpeechRate)
    throw DataError(fmt::format("{}: {} channels at {} samples a second, but it must be one at {}",
                                path, sound.channels, sound.rate, kSpeechRate));
  return Sound(sound.values.begin(), sound.values.end());
}

void shuffle(std::vector<std::string>& paths, RandomStream random) {
  for (std::size_t i = paths.size(); i > 1; --i) std::swap(paths[i - 1], paths[random.below(i)]);
}

Sounds read_noises(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const fs::path place = fs::path(folder) / kNoiseFolder;
    if (!fs::is_directory(place)) continue;
    Sounds noises;
    for (const NoiseFile& noise : kNoiseFiles)
      noises.push_back(read_recording((place / noise.file).string()));
    return noises;
  }
  throw IoError(fmt::format("{}: there is no folder {} here; {}", fmt::join(folders, ", "),
                            kNoiseFolder, kWhatToDo));
}

}  // namespace

Sound prepared_utterance(Sound recording) {
  double sum = 0;
  for (const float x : recording) sum += x;
  const auto mean = static_cast<float>(sum / std::max<double>(1, double(recording.size())));
  for (float& x : recording) x -= mean;
  const std::vector<std::uint8_t> where = audio::heard(recording, kHeardFrame);
  double energy = 0, samples = 0;
  for (std::size_t n = 0; n < recording.size(); ++n)
    if (where[n] != 0) {
      energy += static_cast<double>(recording[n]) * recording[n];
      samples += 1;
    }
  if (energy == 0) return {};
  const auto factor = static_cast<float>(std::sqrt(samples / energy));
  for (float& x : recording) x *= factor;
  return recording;
}

SpeechData read_speech(const std::vector<std::string>& folders, const SpeechCounts& counts,
                       std::uint64_t seed) {
  std::vector<Entry> entries;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder))
      throw IoError(fmt::format("{}: there is no such folder; {}", folder, kWhatToDo));
    add_entries(folder, entries);
  }
  SpeechData data;
  data.noises = read_noises(folders);
  for (const Part part : kParts) {
    std::vector<std::string> paths;
    for (const Entry& entry : entries)
      if (entry.part == part) paths.push_back(entry.path);
    shuffle(paths, RandomStream(seed, "speech utterances", static_cast<std::uint64_t>(part)));
    const auto place = static_cast<std::size_t>(part);
    const int wanted = std::array{counts.training, counts.validation, counts.test}[place];
    Sounds& sounds = data.utterances[place];
    for (const std::string& path : paths) {
      if (wanted > 0 && sounds.size() == static_cast<std::size_t>(wanted)) break;
      Sound sound = prepared_utterance(read_recording(path));
      if (!sound.empty()) sounds.push_back(std::move(sound));
    }
    if (sounds.empty())
      throw DataError(
          fmt::format("{}: no utterance of the words {} is for {}, but each part needs one",
                      fmt::join(folders, ", "), fmt::join(kWords, ", "), kSplits[place]));
  }
  return data;
}

}  // namespace kalmia::reproduction
