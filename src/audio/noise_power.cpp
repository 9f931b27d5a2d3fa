#include "audio/noise_power.hpp"

#include <algorithm>
#include <cmath>

#include "audio/quiet_frames.hpp"
#include "audio/wiener.hpp"

namespace kalmia::audio {
namespace {

// E |N|^2 of a bin, where the filter made `clean` of `noisy`.
float expected_noise(std::complex<float> noisy, std::complex<float> clean, float power) {
  const float heard = std::norm(noisy);
  if (heard == 0) return power;
  const float gain = std::sqrt(std::norm(clean) / heard);
  return (1 - gain) * (1 - gain) * heard + gain * power;
}

}  // namespace

std::vector<float> noise_power(const Spectrogram& noisy, int rounds) {
  std::vector<float> power = mean_power(noisy, quiet_frames(noisy));
  const std::vector<int> frames = whole_frames(noisy);
  for (int round = 0; round < rounds && !frames.empty(); ++round) {
    Spectrogram clean = noisy;
    wiener_filter(power, {}, clean);
    std::vector<double> sums(power.size());
    for (const int t : frames)
      for (std::size_t f = 0; f < sums.size(); ++f)
        sums[f] += expected_noise(noisy.frame(t)[f], clean.frame(t)[f], power[f]);
    for (std::size_t f = 0; f < sums.size(); ++f)
      power[f] =
          std::max(kLeastPower, static_cast<float>(sums[f] / static_cast<double>(frames.size())));
  }
  return power;
}

}  // namespace kalmia::audio
