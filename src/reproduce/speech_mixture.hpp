// Utterances with noise: what the methods of the audio experiment learn from and are scored on.
#pragma once

#include <string>
#include <vector>

#include "reproduce/speech_data.hpp"

namespace kalmia::reproduction {

/// All that a method sees that learns from noisy recordings alone.
struct NoisySpeech {
  std::string noise;  ///< a name of kNoiseFiles, or kCombined
  Sounds training, validation, test;
};

/// Each utterance has one of the noises, at random.
inline constexpr const char* kCombined = "combined";

/// What others may know besides: the utterances and noises that were added up. What it points to
/// is the mixer's.
struct KnownSpeech {
  const Sounds* training = nullptr;  ///< clean
  const Sounds* test = nullptr;
  Sounds test_noise;                     ///< what was added to the test utterances
  std::vector<std::size_t> test_kind;    ///< which noise that is, of kNoiseFiles
  const Sounds* noise_ranges = nullptr;  ///< of training, in the order of kNoiseFiles
};

struct Mixture {
  NoisySpeech noisy;
  KnownSpeech known;
};

/// Standard deviation of a noise, over the whole of a part's range.
inline constexpr double kNoiseLevel = 0.5;

/// The names of all columns of the table: kNoiseFiles, then kCombined.
std::vector<std::string> noise_names();

/// Adds noise to utterances. Training has the first 60 % of a noise recording, validation the next
/// 20 %, test the last 20 %; each range loses its mean and gets the deviation kNoiseLevel, and
/// pieces are cut from it at random. An utterance has the same noise whatever else is mixed.
class SpeechMixer {
 public:
  SpeechMixer(SpeechData data, std::uint64_t seed);

  /// `noise`: one of noise_names(). Throws ConfigError for another.
  Mixture mixture(const std::string& noise) const;
  /// Without what is known besides.
  NoisySpeech noisy(const std::string& noise) const { return mixture(noise).noisy; }

  /// A noise's range of a part.
  const Sound& range(std::size_t kind, Part part) const;

 private:
  SpeechData data_;
  std::uint64_t seed_;
  Sounds ranges_[std::size(kParts)];
};

}  // namespace kalmia::reproduction
