#include "audio/noise_maker.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::audio {

void make_noise(std::span<const float> power, RandomStream& random, Stft& stft,
                std::span<float> noise) {
  // A window more on either side, so that no frame that counts is cut.
  const auto margin = static_cast<std::size_t>(stft.window());
  std::vector<float> white(noise.size() + 2 * margin);
  for (float& each : white) each = static_cast<float>(random.normal());
  Spectrogram spectra = stft.forward(white);
  std::vector<float> factor;
  for (const float each : power)
    factor.push_back(std::sqrt(2 * each / static_cast<float>(stft.window())));
  for (int t = 0; t < spectra.frames; ++t)
    for (std::size_t f = 0; f < factor.size(); ++f) spectra.frame(t)[f] *= factor[f];
  const std::vector<float> shaped = stft.inverse(spectra, white.size());
  std::copy_n(shaped.begin() + stft.window(), noise.size(), noise.begin());
}

}  // namespace kalmia::audio
