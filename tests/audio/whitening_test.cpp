#include "audio/whitening.hpp"

#include <gtest/gtest.h>

#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::noise_whitening;
using audio::Whitening;

double correlation(const std::vector<float>& x, std::size_t lag) {
  double sum = 0;
  for (std::size_t n = lag; n < x.size(); ++n) sum += static_cast<double>(x[n]) * x[n - lag];
  return sum / static_cast<double>(x.size());
}

TEST(Whitening, BackIsTheInverseOfForth) {
  const std::vector<float> sound = sum(voice(4000, 1), rumble(4000, 0.5, 2));
  const Whitening whitening = noise_whitening(sound);
  const std::vector<float> back = whitening.inverse(whitening.forward(sound));
  for (std::size_t n = 0; n < sound.size(); ++n) ASSERT_NEAR(back[n], sound[n], 1e-4) << n;
}

// x[n] = 0.995 x[n-1] + w[n]: one tap says it all.
TEST(Whitening, FindsTheTapsOfAKnownProcess) {
  const Whitening whitening = noise_whitening(rumble(64000, 0.5, 3), {1, 1, 4096});
  ASSERT_EQ(whitening.taps.size(), 1u);
  EXPECT_NEAR(whitening.taps[0], 0.995, 0.003);
  EXPECT_NEAR(whitening.deviation, 0.5 * std::sqrt(1 - 0.995 * 0.995), 0.01);
}

TEST(Whitening, NoiseBecomesWhiteOfUnitVarianceInSpiteOfSpeech) {
  const std::vector<float> noise = rumble(32000, 0.5, 4);
  const Whitening whitening = noise_whitening(sum(voice(32000, 5), noise));
  const std::vector<float> white = whitening.forward(noise);
  // The quieter half of the frames is a little below the mean.
  EXPECT_NEAR(correlation(white, 0), 1, 0.15);
  for (std::size_t lag = 1; lag < 5; ++lag)
    EXPECT_NEAR(correlation(white, lag), 0, 0.05 * correlation(white, 0)) << lag;
}

TEST(Whitening, WhiteNoiseIsOnlyScaled) {
  const Whitening whitening = noise_whitening(white_noise(32000, 0.5, 6));
  EXPECT_NEAR(whitening.deviation, 0.5, 0.02);
  for (const double tap : whitening.taps) EXPECT_NEAR(tap, 0, 0.04);
}

TEST(Whitening, SilenceAndNothingStayAsTheyAre) {
  const std::vector<float> silence(1000);
  EXPECT_EQ(noise_whitening(silence).forward(silence), silence);
  EXPECT_TRUE(noise_whitening({}).forward({}).empty());
  const std::vector<float> few{0.1f, -0.2f, 0.3f};
  const Whitening whitening = noise_whitening(few);
  const std::vector<float> back = whitening.inverse(whitening.forward(few));
  for (std::size_t n = 0; n < few.size(); ++n) EXPECT_NEAR(back[n], few[n], 1e-5);
}

}  // namespace
}  // namespace kalmia::test
