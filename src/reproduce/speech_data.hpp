// Recordings of spoken words and of noises, from the folders of a data set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kalmia::reproduction {

using Sound = std::vector<float>;
using Sounds = std::vector<Sound>;

/// Samples of a frame, 20 ms: what is heard is decided frame by frame (audio::heard).
inline constexpr int kHeardFrame = 320;
/// Samples a second.
inline constexpr int kSpeechRate = 16000;

/// The parts of a data set; no speaker is in two of them, and no second of a noise.
enum class Part { Training, Validation, Test };
inline constexpr Part kParts[] = {Part::Training, Part::Validation, Part::Test};

/// The words of the paper's experiment.
inline constexpr const char* kWords[] = {"tree", "six", "eight", "yes", "cat"};

/// A noise and the file that holds it.
struct NoiseFile {
  const char* name;
  const char* file;
};
inline constexpr NoiseFile kNoiseFiles[] = {
    {"white", "white_noise.wav"},   {"dishes", "doing_the_dishes.wav"},
    {"miaow", "dude_miaowing.wav"}, {"bike", "exercise_bike.wav"},
    {"pink", "pink_noise.wav"},     {"tap", "running_tap.wav"}};
inline constexpr std::size_t kNoises = std::size(kNoiseFiles);

/// How many utterances to read of each part; 0: all there are.
struct SpeechCounts {
  int training = 0, validation = 0, test = 0;
};

/// Utterances by part, each without its mean and of unit deviation where it is heard; noises, whole
/// and as recorded, in the order of kNoiseFiles.
struct SpeechData {
  Sounds utterances[std::size(kParts)];
  Sounds noises;

  const Sounds& of(Part part) const { return utterances[static_cast<std::size_t>(part)]; }
};

/// Reads folders of Speech Commands: index.csv (columns file, class, split among others) with
/// the utterances it names, and, in one folder at least, _background_noise_. If fewer utterances
/// are wanted than there are, a random choice that depends on the seed alone: the first ones of a
/// larger choice. Silent utterances are left out. Throws IoError if there is no such folder,
/// DataError.
SpeechData read_speech(const std::vector<std::string>& folders, const SpeechCounts& counts,
                       std::uint64_t seed);

/// What read_speech does to an utterance; empty if it is silent.
Sound prepared_utterance(Sound recording);

}  // namespace kalmia::reproduction
