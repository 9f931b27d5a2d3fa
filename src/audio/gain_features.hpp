// What networks see of a noisy recording.
#pragma once

#include <span>
#include <vector>

#include "audio/stft.hpp"

namespace kalmia::audio {

/// The logarithm of each bin's power over that of the noise, N,
///
///   q = log(|Y|^2 / N + 0.1),
///
/// its means over sections of the spectrum, and the logarithm of the ratio of signal to noise that
/// the Wiener filter finds. Nothing depends on how loud a recording is.
class GainFeatures {
 public:
  GainFeatures(const Spectrogram& noisy, std::span<const float> noise_power, int sections);

  int frames() const { return frames_; }
  /// q of a bin; beyond the ends of the spectrum that of noise alone.
  float ratio(int t, int f) const {
    return f < 0 || f >= bins_ ? kNoiseAlone : ratios_[place(t, f)];
  }
  /// log r of the Wiener filter: its gain is sigmoid(log r).
  float wiener(int t, int f) const { return wiener_[place(t, f)]; }
  /// Means over sections from low to high frequencies, each wider than the last.
  std::span<const float> sections(int t) const {
    const auto width = static_cast<std::size_t>(sections_);
    return {means_.data() + static_cast<std::size_t>(t) * width, width};
  }

  /// q of a bin with the power of the noise: log 1.1.
  static constexpr float kNoiseAlone = 0.0953f;

 private:
  std::size_t place(int t, int f) const {
    return static_cast<std::size_t>(t) * static_cast<std::size_t>(bins_) +
           static_cast<std::size_t>(f);
  }

  int frames_, bins_, sections_;
  std::vector<float> ratios_;  // frame after frame
  std::vector<float> wiener_;
  std::vector<float> means_;
};

}  // namespace kalmia::audio
