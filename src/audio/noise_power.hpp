// The noise's spectrum of a recording, from all that is heard of it.
#pragma once

#include <vector>

#include "audio/quiet_frames.hpp"
#include "audio/stft.hpp"

namespace kalmia::audio {

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
