#include "audio/gain_data.hpp"

#include <gtest/gtest.h>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::GainData;
using audio::Stft;

constexpr int kSamples = 16000;

// Noise whose level is up and down.
std::vector<float> gusts(std::uint64_t seed) {
  std::vector<float> noise = white_noise(kSamples, 0.5, seed);
  for (std::size_t n = 0; n < noise.size(); ++n)
    noise[n] *= static_cast<float>(1 + 0.8 * std::sin(static_cast<double>(n) / 800));
  return noise;
}

TEST(GainData, UnsteadyNoiseIsSeenBesideAVoice) {
  Stft stft(512);
  constexpr int kRecordings = 10;
  const auto mean = [&stft](const auto& noise) {
    double all = 0;
    for (std::uint64_t seed = 1; seed <= kRecordings; ++seed)
      all += audio::unsteadiness(stft.forward(sum(voice(kSamples, seed), noise(seed))));
    return all / kRecordings;
  };
  const auto white = [](std::uint64_t seed) { return white_noise(kSamples, 0.5, seed); };
  const auto low = [](std::uint64_t seed) { return rumble(kSamples, 0.5, seed); };
  const double most = audio::kMostUnsteady;
  EXPECT_LT(mean(white), most);
  EXPECT_LT(mean(low), most);
  EXPECT_GT(mean(gusts), 1.5 * most);
  EXPECT_EQ(audio::unsteadiness(stft.forward({})), 0);
}

TEST(GainData, LeavesOutUnsteadyRecordingsUnlessAllAre) {
  const std::vector<float> steady = sum(voice(kSamples, 1), white_noise(kSamples, 0.5, 1));
  const std::vector<float> other = sum(voice(kSamples, 2), gusts(2));
  EXPECT_EQ(audio::gain_data({other, steady, other}, 512).recordings,
            (std::vector<std::vector<float>>{steady}));
  EXPECT_EQ(audio::gain_data({other, other}, 512).recordings.size(), 2u);
}

TEST(GainData, AddsNoiseOfTheRecordingsOwnPower) {
  const GainData data =
      audio::gain_data({white_noise(kSamples, 0.5, 1), white_noise(kSamples, 2, 2)}, 512);
  for (std::size_t i = 0; i < 2; ++i) {
    RandomStream random(1, "noise", i);
    std::vector<float> noise(kSamples);
    data.noise(i, random, noise);
    double square = 0;
    for (const float x : noise) square += static_cast<double>(x) * x / kSamples;
    // Where there is nothing but noise, a part of it is taken for speech.
    const double deviation = i == 0 ? 0.5 : 2;
    EXPECT_GT(std::sqrt(square), 0.9 * deviation);
    EXPECT_LT(std::sqrt(square), 1.02 * deviation);
  }
}

TEST(GainData, DisturbancesAreAsLoudAsTheNoiseAllows) {
  const GainData data =
      audio::gain_data({white_noise(kSamples, 0.5, 1), white_noise(kSamples, 4, 1)}, 512);
  std::vector<float> soft(kSamples), loud(kSamples);
  double all_soft = 0, all_loud = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    RandomStream a(1, "d", k), b(1, "d", k);
    data.disturbance(0, a, soft);
    data.disturbance(1, b, loud);
    for (std::size_t n = 0; n < soft.size(); ++n) {
      all_soft += std::abs(soft[n]);
      all_loud += std::abs(loud[n]);
    }
  }
  EXPECT_GT(all_soft, 0);
  EXPECT_NEAR(all_loud / all_soft, 8, 0.01);
}

}  // namespace
}  // namespace kalmia::test
