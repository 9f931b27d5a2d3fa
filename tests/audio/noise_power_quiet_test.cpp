#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::Quiet;
using audio::Spectrogram;
using audio::Stft;

std::vector<int> all_frames(const Spectrogram& s) {
  std::vector<int> frames(static_cast<std::size_t>(s.frames));
  std::iota(frames.begin(), frames.end(), 0);
  return frames;
}

double total(const std::vector<float>& power) {
  return std::accumulate(power.begin(), power.end(), 0.0);
}

TEST(QuietFrames, AreWhereTheVoiceIsNot) {
  Stft stft(512);
  const Spectrogram noisy = stft.forward(sum(voice(16000, 1), white_noise(16000, 0.5, 1)));
  for (const Quiet by : {Quiet::Energy, Quiet::Whitened}) {
    const std::vector<int> quiet = quiet_frames(noisy, {by, 0.3, 5});
    EXPECT_EQ(quiet.size(), static_cast<std::size_t>(0.3 * (noisy.frames - 6)));
    EXPECT_TRUE(std::is_sorted(quiet.begin(), quiet.end()));
    // The voice is heard from 0.3 to 0.7; at its very ends it is weak.
    for (const int t : quiet)
      EXPECT_TRUE((t - 2) * 128 < 0.33 * 16000 || (t - 1) * 128 > 0.67 * 16000) << t;
    EXPECT_GE(quiet.front(), 3);
    EXPECT_LT(quiet.back(), noisy.frames - 3);
  }
}

// All frames are noise: those of the least energy are not like the others, the whitened ones are.
TEST(QuietFrames, WhitenedOnesAreNotChosenByTheNoise) {
  Stft stft(512);
  double energy = 0, whitened = 0, truth = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Spectrogram noise = stft.forward(rumble(16000, 1, seed));
    energy += total(mean_power(noise, quiet_frames(noise, {Quiet::Energy, 0.2, 5})));
    whitened += total(mean_power(noise, quiet_frames(noise, {Quiet::Whitened, 0.2, 5})));
    truth += total(mean_power(noise, all_frames(noise)));
  }
  EXPECT_LT(energy, 0.5 * truth);
  EXPECT_GT(whitened, 0.7 * truth);
}

TEST(QuietFrames, ShortRecordingsHaveSomeToo) {
  Stft stft(512);
  EXPECT_TRUE(quiet_frames(stft.forward({})).empty());
  EXPECT_EQ(quiet_frames(stft.forward(white_noise(10, 1, 1))).size(), 4u);
  const Spectrogram eight = stft.forward(white_noise(128 * 5, 1, 1));
  ASSERT_EQ(eight.frames, 8);
  EXPECT_EQ(quiet_frames(eight), (std::vector<int>{3, 4}));
}

TEST(MeanPower, IsTheMeanAndNeverZero) {
  Spectrogram s{2, 2, {{3, 4}, {0, 0}, {0, 1}, {0, 0}}};
  EXPECT_EQ(mean_power(s, {0, 1}), (std::vector<float>{13, audio::kLeastPower}));
  EXPECT_EQ(mean_power(s, {1}), (std::vector<float>{1, audio::kLeastPower}));
  EXPECT_EQ(mean_power(s, {}), (std::vector<float>(2, audio::kLeastPower)));
}

}  // namespace
}  // namespace kalmia::test
