#include "audio/wiener.hpp"

#include <algorithm>

namespace kalmia::audio {

void wiener_filter(std::span<const float> noise_power, const WienerOptions& options,
                   Spectrogram& noisy) {
  std::vector<double> before(noise_power.size());  // |S[t-1]|^2
  for (int t = 0; t < noisy.frames; ++t) {
    const std::span<std::complex<float>> frame = noisy.frame(t);
    for (std::size_t f = 0; f < frame.size(); ++f) {
      const double N = noise_power[f];
      const double ratio = options.memory * before[f] / N +
                           (1 - options.memory) * std::max(std::norm(frame[f]) / N - 1, 0.0);
      const double r = std::max(ratio, options.least_ratio);
      frame[f] *= static_cast<float>(r / (1 + r));
      before[f] = std::norm(frame[f]);
    }
  }
}

}  // namespace kalmia::audio
