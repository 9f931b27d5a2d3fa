// The noise's spectrum of a recording that goes on and on.
#pragma once

#include <span>
#include <vector>

#include "audio/stft.hpp"

namespace kalmia::audio {

/// Finds the noise's power (noise_power) in the last frames, so that noise that changes slowly is
/// followed. Of the frames, of which four lie over each sample, every other one is kept.
/// Silence without any noise (zeros) says nothing of it and is left out.
class NoiseTracker {
 public:
  /// `frames`: over which quiet ones are looked for.
  NoiseTracker(int bins, int frames);

  void add(std::span<const std::complex<float>> frame);
  /// For each bin; never less than kLeastPower, and that if there was no frame but silence.
  std::vector<float> power() const;

 private:
  Spectrogram last_;  // a ring
  int room_;          // frames in it at most
  int next_ = 0;      // where the next frame goes
  bool skip_ = false;
};

}  // namespace kalmia::audio
