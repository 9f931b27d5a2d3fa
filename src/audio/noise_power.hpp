// The noise's spectrum of a recording: found where nothing else is heard, and from all frames.
#pragma once

#include <vector>

#include "audio/stft.hpp"

namespace kalmia::audio {

/// What makes a frame quiet.
enum class Quiet {
  /// Its energy. In noise with much power at few frequencies (pink noise, a hum) frames are then
  /// chosen by the noise itself, which seems weaker than it is: by a factor of 2.7 in pink noise.
  Energy,
  /// The mean over bins of log(1 + |Y|^2 / N), with N the mean power of the quiet frames found so
  /// far: relative to the noise all bins count alike, and together they hardly vary as long as
  /// there is nothing but noise.
  Whitened,
};

struct QuietOptions {
  Quiet by = Quiet::Whitened;
  double share = 0.25;  ///< of the frames
  int fewest = 12;      ///< frames, if there are as many
};

/// All frames but those that reach beyond the ends of the recording, unless there are no others.
std::vector<int> whole_frames(const Spectrogram& noisy);

/// The quiet ones of the whole frames, in their order.
std::vector<int> quiet_frames(const Spectrogram& noisy, const QuietOptions& options = {});

/// Mean of |Y|^2 over these frames, for each bin; never less than kLeastPower.
inline constexpr float kLeastPower = 1e-12f;
std::vector<float> mean_power(const Spectrogram& spectrogram, const std::vector<int>& frames);

struct NoisePowerOptions {
  QuietOptions quiet = {};
  int rounds = 4;
};

/// The power of the noise in each bin. Quiet frames say it first; then rounds of expectation and
/// maximisation take in the other frames, where the Wiener filter of gain G leaves of the noise
///
///   E |N|^2 = (1 - G)^2 |Y|^2 + G N,   and N becomes its mean over the frames.
///
/// Few frames are quiet, and those that were chosen for being so are quieter than the noise is: in
/// recordings of a second a round or two halve the error of log N.
std::vector<float> noise_power(const Spectrogram& noisy, const NoisePowerOptions& options = {});

}  // namespace kalmia::audio
