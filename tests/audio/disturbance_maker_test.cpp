#include <gtest/gtest.h>

#include <numeric>

#include "audio/disturbance.hpp"
#include "audio/noise_power.hpp"

namespace kalmia::test {
namespace {

using audio::Stft;

TEST(NoiseMaker, HasTheSpectrumAskedFor) {
  Stft stft(64);
  std::vector<float> power;
  for (int f = 0; f <= 32; ++f) power.push_back(0.5f + static_cast<float>(f) / 8);
  RandomStream random(1, "noise");
  std::vector<float> noise(200000);
  make_noise(power, random, stft, noise);
  const audio::Spectrogram frames = stft.forward(noise);
  std::vector<int> whole;
  for (int t = 4; t < frames.frames - 4; ++t) whole.push_back(t);
  const std::vector<float> found = mean_power(frames, whole);
  // The first and last bin are real, with neighbours that mirror them.
  for (std::size_t f = 1; f < 32; ++f) EXPECT_NEAR(found[f] / power[f], 1, 0.08) << f;
}

TEST(NoiseMaker, IsGaussianAndEqualEverywhere) {
  Stft stft(64);
  // Of the low bins alone, so that each sample hangs together with many others.
  std::vector<float> power(33);
  std::fill_n(power.begin(), 4, 32.0f);
  RandomStream random(2, "noise");
  constexpr int kRuns = 4000;
  std::vector<double> square(100), fourth(100);
  for (int run = 0; run < kRuns; ++run) {
    std::vector<float> noise(100);
    make_noise(power, random, stft, noise);
    for (std::size_t n = 0; n < noise.size(); ++n) {
      const double x2 = static_cast<double>(noise[n]) * noise[n];
      square[n] += x2 / kRuns;
      fourth[n] += x2 * x2 / kRuns;
    }
  }
  // From the first sample to the last.
  const double middle = std::accumulate(square.begin(), square.end(), 0.0) / 100;
  for (std::size_t n = 0; n < 100; n += 9) {
    EXPECT_NEAR(square[n] / middle, 1, 0.1) << n;
    EXPECT_NEAR(fourth[n] / (square[n] * square[n]), 3, 0.5) << n;
  }
}

TEST(NoiseMaker, SameStreamSameNoise) {
  Stft stft(32);
  const std::vector<float> power(17, 1);
  RandomStream one(3, "noise"), same(3, "noise");
  std::vector<float> a(50), b(50);
  make_noise(power, one, stft, a);
  make_noise(power, same, stft, b);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace kalmia::test
