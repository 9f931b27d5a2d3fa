// The spectral Wiener filter with the decision-directed estimate of the signal's power: what one
// would use without learning anything.
#pragma once

#include <span>
#include <vector>

#include "audio/stft.hpp"

namespace kalmia::audio {

struct WienerOptions {
  /// Share of the frame before in the estimate of the ratio of signal to noise.
  double memory = 0.95;
  double least_ratio = 1e-3;
};

/// The ratio r of signal to noise in each bin of all frames,
///
///   r[t] = memory |S[t-1]|^2 / N + (1 - memory) max(|Y[t]|^2 / N - 1, 0),   S = r / (1 + r) Y,
///
/// with N the noise's power of each bin. Reference: Ephraim & Malah (1984), Scalart & Filho (1996).
std::vector<float> signal_ratios(const Spectrogram& noisy, std::span<const float> noise_power,
                                 const WienerOptions& options = {});

/// Multiplies each bin by G = r / (1 + r).
void wiener_filter(std::span<const float> noise_power, const WienerOptions& options,
                   Spectrogram& noisy);

}  // namespace kalmia::audio
