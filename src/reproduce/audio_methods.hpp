// The methods of the audio experiment: what its table asks of them, so that others can join, and
// those there are.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/fit.hpp"
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

/// The recordings themselves.
AudioTask raw_audio();

/// A Kalman filter for white noise, tuned on clean speech. Its state is the last samples; what
/// predicts the next one is found in clean training utterances, the process noise is that of least
/// error on them.
AudioTask supervised_kalman_audio();

/// The spectral Wiener filter with the noise's spectrum from the quietest fifth of the frames of
/// the same recording.
AudioTask wiener_quiet_audio();
/// The same with the average spectrum of the noise's training range; where noises are combined,
/// that of the noise that was added.
AudioTask wiener_known_audio();
/// The Wiener gain from the clean and noise spectra of each frame themselves: what no such filter
/// can do better.
AudioTask wiener_oracle_audio();

/// x[k] = sum of taps[j] x[k-1-j] + N(0, q), seen with noise of variance R; the state is the last
/// samples, x[k] first.
LinearModel autoregression(const std::vector<double>& taps, double q, double R);

/// The Wiener filter with the noise's spectrum from all frames of the recording, and, with speech
/// as it finds it, a Kalman filter of speech and noise as two parts of one state.
AudioTask noise_model_audio();

/// Gains by networks that are trained once, on the noisy training recordings of all noises, and
/// used in every column.
AudioTask gains_audio();

/// What of a fitted model is listened to.
enum class Heard {
  Predicted,   ///< y_pred[k], from what came before y[k]
  Filtered,    ///< x[k|<=k]
  Linearized,  ///< x[k|0:K], the backward pass
  Trained,     ///< x[k|0:K] by the networks that read the future (linearized if none were kept)
};

struct FittedSound {
  AudioMethod method;
  Heard heard = Heard::Filtered;
};

/// How recordings become series of white noise of unit variance, as far as that can be told from
/// the recording itself. Both divide by the same deviation and the rest of whitening has the
/// determinant 1, so that held-out losses of the two may be compared.
enum class Levelled {
  /// Divided by the deviation of that part of its noise that a linear predictor does not predict.
  /// Noise that lasts from sample to sample stays so.
  Scaled,
  /// That part alone is left of the noise (audio::Whitening); estimates go the way back.
  Whitened,
};

/// Fits to noisy training recordings, choosing by noisy validation ones, then runs over the test
/// recordings. Quick runs make fewer updates. `seconds`: expected of a column.
AudioTask fitted_audio(const FitOptions& options, Levelled levelled,
                       std::vector<FittedSound> sounds, double seconds);

/// In the order of the table.
std::vector<AudioTask> audio_tasks();

/// Those that have a method of these names (all, if there are none), with their other methods.
/// Throws ConfigError that names the first method there is not.
std::vector<AudioTask> audio_tasks_with(const std::vector<std::string>& names);

}  // namespace kalmia::reproduction
