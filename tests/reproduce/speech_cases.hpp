// A tiny data set in the layout of Speech Commands, and small mixtures without files.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "audio/sound_cases.hpp"
#include "base/atomic_file.hpp"
#include "data/audio.hpp"
#include "reproduce/speech_mixture.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {

/// Where a test has its data set.
inline std::filesystem::path root(const ScratchFolder& folder) { return folder.file("speech"); }

inline void write_wav(const std::filesystem::path& path, const std::vector<float>& values,
                      int rate = 16000) {
  std::filesystem::create_directories(path.parent_path());
  AtomicFile file(path.string());
  data::write_sound(path.string(), data::Format::Wav,
                    {rate, 1, std::vector<double>(values.begin(), values.end())}, file);
  file.commit();
}

inline constexpr int kNoiseSamples = 30000, kUtteranceSamples = 4000;

/// `each` utterances of every word and part. Utterances are loud and off zero by 0.2.
inline void write_speech(const std::filesystem::path& folder, int each, bool noises = true) {
  std::filesystem::create_directories(folder);
  std::ofstream index(folder / "index.csv");
  index << "file,class,speaker,split,samples,peak,rms\n";
  std::uint64_t seed = 1;
  for (const std::string word : {"tree", "six", "eight", "yes", "cat", "dog"})
    for (const std::string split : {"training", "validation", "testing"})
      for (int k = 0; k < each; ++k, ++seed) {
        const std::string name = word + "/" + split + "_nohash_" + std::to_string(k) + ".wav";
        std::vector<float> sound = voice(kUtteranceSamples, seed);
        for (float& x : sound) x = 0.2f + 0.1f * x;
        write_wav(folder / name, sound);
        index << name << "," << word << ",s" << seed << "," << split << "," << sound.size()
              << ",0.1,0.1\n";
      }
  if (!noises) return;
  for (std::size_t kind = 0; kind < reproduction::kNoises; ++kind) {
    std::vector<float> noise = kind % 2 == 0 ? white_noise(kNoiseSamples, 0.1, 100 + kind)
                                             : rumble(kNoiseSamples, 0.1, 100 + kind);
    write_wav(folder / "_background_noise_" / reproduction::kNoiseFiles[kind].file, noise);
  }
}

/// The same without files: counts of utterances by part.
inline reproduction::SpeechData speech_data(int training, int validation, int test,
                                            int samples = kUtteranceSamples) {
  reproduction::SpeechData speech;
  std::uint64_t seed = 1;
  for (const auto& [part, count] : {std::pair{0, training}, {1, validation}, {2, test}})
    for (int i = 0; i < count; ++i)
      speech.utterances[static_cast<std::size_t>(part)].push_back(
          reproduction::prepared_utterance(voice(samples, seed++)));
  for (std::size_t kind = 0; kind < reproduction::kNoises; ++kind)
    speech.noises.push_back(kind % 2 == 0 ? white_noise(10 * samples, 0.1, 100 + kind)
                                          : rumble(10 * samples, 0.1, 100 + kind));
  return speech;
}

}  // namespace kalmia::test
