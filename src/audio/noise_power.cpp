#include "audio/noise_power.hpp"

#include <algorithm>

#include "audio/wiener.hpp"

namespace kalmia::audio {
namespace {

// E |N|^2 of a bin where the filter finds this ratio of signal to noise.
float expected_noise(std::complex<float> noisy, float ratio, float power) {
  const float rest = 1 / (1 + ratio);  // 1 - G
  return rest * rest * std::norm(noisy) + (1 - rest) * power;
}

}  // namespace

std::vector<float> noise_power(const Spectrogram& noisy, const NoisePowerOptions& options) {
  std::vector<float> power = mean_power(noisy, quiet_frames(noisy, options.quiet));
  const std::vector<int> frames = whole_frames(noisy);
  for (int round = 0; round < options.rounds && !frames.empty(); ++round) {
    const std::vector<float> ratios = signal_ratios(noisy, power);
    std::vector<double> sums(power.size());
    for (const int t : frames)
      for (std::size_t f = 0; f < sums.size(); ++f)
        sums[f] += expected_noise(noisy.frame(t)[f],
                                  ratios[static_cast<std::size_t>(t) * sums.size() + f], power[f]);
    for (std::size_t f = 0; f < sums.size(); ++f)
      power[f] =
          std::max(kLeastPower, static_cast<float>(sums[f] / static_cast<double>(frames.size())));
  }
  return power;
}

}  // namespace kalmia::audio
