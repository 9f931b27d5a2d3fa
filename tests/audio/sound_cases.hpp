// Sounds for the tests: noise of a known spectrum, and something like speech.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.hpp"

namespace kalmia::test {

inline std::vector<float> white_noise(int samples, double deviation, std::uint64_t seed) {
  RandomStream random(seed, "white noise");
  std::vector<float> noise;
  for (int n = 0; n < samples; ++n)
    noise.push_back(static_cast<float>(deviation * random.normal()));
  return noise;
}

/// x[n] = 0.995 x[n-1] + w[n], scaled to this deviation: nearly all power at low frequencies.
inline std::vector<float> rumble(int samples, double deviation, std::uint64_t seed) {
  RandomStream random(seed, "rumble");
  std::vector<float> noise;
  double x = 0;
  for (int n = -2000; n < samples; ++n) {
    x = 0.995 * x + std::sqrt(1 - 0.995 * 0.995) * random.normal();
    if (n >= 0) noise.push_back(static_cast<float>(deviation * x));
  }
  return noise;
}

/// Silence, a voice of some harmonics whose pitch and loudness move, silence; its middle has about
/// unit deviation.
inline std::vector<float> voice(int samples, std::uint64_t seed) {
  RandomStream random(seed, "voice");
  const double pitch = 100 + 80 * random.uniform(), glide = 0.3 * random.normal();
  std::vector<float> sound(static_cast<std::size_t>(samples));
  double phase = 0;
  for (int n = samples * 3 / 10; n < samples * 7 / 10; ++n) {
    const double at = (n - 0.3 * samples) / (0.4 * samples);
    phase += 2 * std::numbers::pi * pitch * (1 + glide * at) / 16000;
    double x = 0;
    for (int h = 1; h <= 12; ++h) x += std::sin(h * phase + h * h) / h;
    sound[static_cast<std::size_t>(n)] =
        static_cast<float>(1.6 * std::sin(std::numbers::pi * at) * x);
  }
  return sound;
}

inline std::vector<float> sum(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
  return a;
}

}  // namespace kalmia::test
