// What the table of the audio experiment asks of its methods, so that others can join.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kalmia/reproduce_audio.hpp"
#include "reproduce/speech_mixture.hpp"

namespace kalmia::reproduction {

/// What a task is given that learns once for all columns. No clean sound.
struct AudioPreparation {
  std::function<NoisySpeech(const std::string& noise)> noisy;  ///< any of noise_names()
  bool quick = false;
  std::uint64_t seed = 0;
  int threads = 1;
  std::function<bool()> go_on;  ///< as in AudioWork
  std::string out = {};         ///< folder for what was learned; may be empty
};

/// What a task is given for one column.
struct AudioWork {
  const NoisySpeech* noisy = nullptr;
  /// Null, unless the task says that it knows more (AudioTask::knows).
  const KnownSpeech* known = nullptr;
  std::any prepared = {};  ///< what AudioTask::prepare returned
  bool quick = false;
  std::uint64_t seed = 0;
  int threads = 1;
  /// Asked now and then; false: give up (the result is thrown away).
  std::function<bool()> go_on = {};
};

/// What a method makes of the test recordings.
struct AudioOutcome {
  Sounds estimates;  ///< one for each of NoisySpeech::test, as long as it
  std::optional<double> held_out = {};
  std::optional<bool> networks_kept = {};
};

/// Something that is learned once for a column, or for all, and the methods that come of it.
struct AudioTask {
  std::vector<AudioMethod> methods;
  bool knows = false;  ///< sees clean speech, or noise alone
  /// Expected seconds of a column on one thread; only the order of cells and the time left follow
  /// from it.
  std::function<double(const AudioOptions&)> cost;
  /// Called once before all columns, with all threads; may be empty. What it returns is read by
  /// several threads at once.
  std::function<std::any(const AudioPreparation&)> prepare = {};
  /// One outcome for each of `methods`, in their order. May throw NumericalError.
  std::function<std::vector<AudioOutcome>(const AudioWork&)> run;
};

}  // namespace kalmia::reproduction
