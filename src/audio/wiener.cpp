#include "audio/wiener.hpp"

#include <algorithm>

namespace kalmia::audio {

std::vector<float> signal_ratios(const Spectrogram& noisy, std::span<const float> noise_power,
                                 const WienerOptions& options) {
  const auto memory = static_cast<float>(options.memory);
  const auto least = static_cast<float>(options.least_ratio);
  std::vector<float> ratios(noisy.values.size());
  std::vector<float> before(noise_power.size()), inverse;  // |S[t-1]|^2 / N, 1 / N
  for (const float each : noise_power) inverse.push_back(1 / each);
  for (int t = 0; t < noisy.frames; ++t) {
    const std::span<const std::complex<float>> frame = noisy.frame(t);
    float* own = ratios.data() + static_cast<std::size_t>(t) * frame.size();
    for (std::size_t f = 0; f < frame.size(); ++f) {
      const float heard = std::norm(frame[f]) * inverse[f];
      const float r =
          std::max(memory * before[f] + (1 - memory) * std::max(heard - 1, 0.0f), least);
      const float gain = r / (1 + r);
      before[f] = gain * gain * heard;
      own[f] = r;
    }
  }
  return ratios;
}

void wiener_filter(std::span<const float> noise_power, const WienerOptions& options,
                   Spectrogram& noisy) {
  const std::vector<float> ratios = signal_ratios(noisy, noise_power, options);
  for (std::size_t i = 0; i < ratios.size(); ++i) noisy.values[i] *= ratios[i] / (1 + ratios[i]);
}

}  // namespace kalmia::audio
