#include "audio/wiener.hpp"

#include <gtest/gtest.h>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"

namespace kalmia::test {
namespace {

using audio::Spectrogram;

// By hand, with memory 0.5 and noise of power 2.
TEST(Wiener, FollowsItsRule) {
  Spectrogram s{3, 1, {{4, 0}, {0, 2}, {0.1f, 0}}};
  const float noise = 2;
  wiener_filter({&noise, 1}, {0.5, 0.25}, s);
  // r = 0.5 (16 / 2 - 1) = 3.5; then 0.5 (28/9)^2 / 2 + 0.5 (4 / 2 - 1) = 2.9197..
  const double first = 4 * 3.5 / 4.5;
  EXPECT_NEAR(s.values[0].real(), first, 1e-6);
  const double r = 0.5 * first * first / 2 + 0.5;
  EXPECT_NEAR(s.values[1].imag(), 2 * r / (1 + r), 1e-6);
  const double second = 2 * r / (1 + r), last = 0.5 * second * second / 2;
  EXPECT_GT(last, 0.25);
  EXPECT_NEAR(s.values[2].real(), 0.1 * last / (1 + last), 1e-6);
}

TEST(Wiener, TheRatioHasALeast) {
  Spectrogram s{1, 1, {{1, 0}}};
  const float noise = 100;
  wiener_filter({&noise, 1}, {0.95, 0.25}, s);
  EXPECT_NEAR(s.values[0].real(), 0.2, 1e-6);
}

TEST(Wiener, ALotOfTheNoiseIsGone) {
  audio::Stft stft(512);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<float> clean = voice(16000, seed);
    const std::vector<float> noisy = sum(clean, white_noise(16000, 0.5, seed));
    Spectrogram s = stft.forward(noisy);
    wiener_filter(mean_power(s, quiet_frames(s)), {}, s);
    const std::vector<float> found = stft.inverse(s, noisy.size());
    const auto where = audio::heard(clean, 320);
    EXPECT_LT(audio::mean_square_error(found, clean, where),
              0.35 * audio::mean_square_error(noisy, clean, where))
        << seed;
  }
}

}  // namespace
}  // namespace kalmia::test
