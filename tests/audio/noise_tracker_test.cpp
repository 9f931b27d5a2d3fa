#include "audio/noise_tracker.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::NoiseTracker;
using audio::Spectrogram;
using audio::Stft;

constexpr int kWindow = 512;

void add(NoiseTracker& tracker, const std::vector<float>& sound) {
  Stft stft(kWindow);
  const Spectrogram frames = stft.forward(sound);
  for (int t = 3; t < frames.frames - 3; ++t) tracker.add(frames.frame(t));
}

double mean(const std::vector<float>& power) {
  return std::accumulate(power.begin(), power.end(), 0.0) / static_cast<double>(power.size());
}

// Of white noise of unit deviation, in each bin.
constexpr double kWhite = kWindow / 2.0;

TEST(NoiseTracker, FindsNoiseBetweenWords) {
  NoiseTracker tracker(kWindow / 2 + 1, 1000);
  std::vector<float> sound = white_noise(32000, 0.1, 1);
  for (int word = 0; word < 4; ++word) {
    const std::vector<float> said = voice(8000, static_cast<std::uint64_t>(word));
    for (std::size_t n = 0; n < said.size(); ++n)
      sound[static_cast<std::size_t>(8000 * word) + n] += said[n];
  }
  add(tracker, sound);
  EXPECT_NEAR(mean(tracker.power()) / (0.01 * kWhite), 1, 0.15);
}

TEST(NoiseTracker, FollowsTheNoise) {
  NoiseTracker tracker(kWindow / 2 + 1, 500);
  add(tracker, white_noise(64000, 1, 1));
  EXPECT_NEAR(mean(tracker.power()) / kWhite, 1, 0.15);
  add(tracker, white_noise(64000, 3, 2));
  EXPECT_NEAR(mean(tracker.power()) / (9 * kWhite), 1, 0.15);
}

TEST(NoiseTracker, SilenceIsNoNoise) {
  NoiseTracker tracker(kWindow / 2 + 1, 500);
  EXPECT_EQ(mean(tracker.power()), audio::kLeastPower);
  add(tracker, std::vector<float>(16000));
  EXPECT_EQ(mean(tracker.power()), audio::kLeastPower);
  add(tracker, white_noise(32000, 1, 1));
  add(tracker, std::vector<float>(256000));
  EXPECT_NEAR(mean(tracker.power()) / kWhite, 1, 0.15);
}

}  // namespace
}  // namespace kalmia::test
