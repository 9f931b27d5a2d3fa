#include "audio/sound_metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using Samples = std::vector<float>;
using Mask = std::vector<std::uint8_t>;

TEST(SoundMetrics, HeardFramesAreAboveATenthOfTheLoudest) {
  // Frames of deviation 10, 0.9, 1.1, and a rest that is no frame.
  const Samples x{10, -10, 0.9f, -0.9f, 1.1f, 1.1f, 10};
  EXPECT_EQ(audio::heard(x, 2), (Mask{1, 1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(audio::heard(x, 8), Mask(7, 0));
  EXPECT_EQ(audio::heard(Samples(6), 2), Mask(6, 0));
}

TEST(SoundMetrics, ErrorsCountWhereTheyShould) {
  const Samples clean{1, 2, 3, 4}, found{1, 1, 3, 0};
  EXPECT_DOUBLE_EQ(audio::mean_square_error(found, clean), 17.0 / 4);
  EXPECT_DOUBLE_EQ(audio::mean_square_error(found, clean, Mask{1, 1, 0, 0}), 0.5);
  EXPECT_TRUE(std::isnan(audio::mean_square_error(found, clean, Mask(4, 0))));
  EXPECT_NEAR(audio::snr_db(found, clean), 10 * std::log10(30.0 / 17), 1e-12);
  EXPECT_NEAR(audio::snr_db(found, clean, Mask{1, 1, 0, 0}), 10 * std::log10(5.0), 1e-12);
}

TEST(SoundMetrics, SegmentsAreBounded) {
  // 10 log10 of 2 / 0.02, exact (35), far off (-10), silent (left out).
  const Samples clean{1, 1, 2, 2, 1, 1, 0, 0}, found{1.1f, 0.9f, 2, 2, 100, 100, 5, 5};
  EXPECT_NEAR(audio::segmental_snr_db(found, clean, 2), (20.0 + 35 - 10) / 3, 1e-5);
  EXPECT_NEAR(audio::segmental_snr_db(found, clean, 2, Mask{1, 1, 1, 1, 0, 0, 0, 0}), 27.5, 1e-5);
  EXPECT_TRUE(std::isnan(audio::segmental_snr_db(found, clean, 20)));
}

TEST(SoundMetrics, SiSdrKnowsNoScaleAndNoMean) {
  const Samples clean = voice(4000, 1), noise = white_noise(4000, 0.1, 1);
  const Samples noisy = sum(clean, noise);
  const double expected = audio::si_sdr_db(noisy, clean);
  Samples other = noisy;
  for (float& x : other) x = 3 * x + 7;
  EXPECT_NEAR(audio::si_sdr_db(other, clean), expected, 1e-4);
  // Noise that is not parallel to the signal: what is left is the ratio of energies, nearly.
  EXPECT_NEAR(expected, audio::snr_db(noisy, clean), 0.1);
}

}  // namespace
}  // namespace kalmia::test
