#include "audio/noise_power.hpp"

#include <gtest/gtest.h>

#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::Spectrogram;
using audio::Stft;

// Mean square of log N / truth over recordings of a voice in white noise of deviation 1/2.
double log_error(int rounds) {
  Stft stft(512);
  double sum_of_squares = 0;
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Spectrogram noisy = stft.forward(sum(voice(16000, seed), white_noise(16000, 0.5, seed)));
    const std::vector<float> power = noise_power(noisy, {{}, rounds});
    // The mean power of a frame: the sum of the squared window, 256, times 1/4.
    for (std::size_t f = 1; f + 1 < power.size(); ++f, ++count)
      sum_of_squares += std::pow(std::log(power[f] / 64), 2);
  }
  return sum_of_squares / count;
}

TEST(NoisePower, AllFramesSayMoreThanTheQuietOnes) {
  const double quiet = log_error(0), all = log_error(1);
  EXPECT_LT(all, 0.6 * quiet);
  EXPECT_LT(log_error(4), 0.6 * quiet);
}

TEST(NoisePower, StartsWithTheQuietFrames) {
  Stft stft(256);
  const Spectrogram noisy = stft.forward(white_noise(4000, 1, 1));
  EXPECT_EQ(noise_power(noisy, {{}, 0}), mean_power(noisy, quiet_frames(noisy)));
}

TEST(NoisePower, SilenceAndNothingHaveTheLeast) {
  Stft stft(64);
  const std::vector<float> least(33, audio::kLeastPower);
  EXPECT_EQ(noise_power(stft.forward(std::vector<float>(1000, 0.0f))), least);
  EXPECT_EQ(noise_power(stft.forward({})), least);
}

}  // namespace
}  // namespace kalmia::test
