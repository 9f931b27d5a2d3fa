#include "audio/gain_features.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/wiener.hpp"

namespace kalmia::test {
namespace {

using audio::GainFeatures;
using audio::Spectrogram;

TEST(GainFeatures, AreRatiosToTheNoise) {
  const Spectrogram noisy{2, 3, {{3, 4}, {0, 0}, {1, 0}, {0, 2}, {6, 8}, {0, 0}}};
  const std::vector<float> power{25, 1, 0.5f};
  const GainFeatures features(noisy, power, 1);
  EXPECT_EQ(features.frames(), 2);
  EXPECT_FLOAT_EQ(features.ratio(0, 0), std::log(1.1f));
  EXPECT_FLOAT_EQ(features.ratio(0, 1), std::log(0.1f));
  EXPECT_FLOAT_EQ(features.ratio(0, 2), std::log(2.1f));
  EXPECT_FLOAT_EQ(features.ratio(1, 1), std::log(100.1f));
  const std::vector<float> ratios = audio::signal_ratios(noisy, power);
  for (int f = 0; f < 3; ++f)
    EXPECT_FLOAT_EQ(features.wiener(1, f), std::log(ratios[static_cast<std::size_t>(3 + f)]));
  for (const int f : {-5, -1, 3, 40}) EXPECT_NEAR(features.ratio(1, f), std::log(1.1), 1e-4) << f;
  ASSERT_EQ(features.sections(0).size(), 1u);
  EXPECT_FLOAT_EQ(features.sections(0)[0], (std::log(1.1f) + std::log(0.1f) + std::log(2.1f)) / 3);
}

// q of bin f is log(f + 1.1): a mean over bins lies between the first one's and the last one's.
TEST(GainFeatures, SectionsGoUpTheSpectrumAndGetWider) {
  Spectrogram noisy{1, 257, {}};
  for (int f = 0; f < 257; ++f) noisy.values.emplace_back(std::sqrt(static_cast<float>(f + 1)), 0);
  const GainFeatures features(noisy, std::vector<float>(257, 1), 16);
  const auto sections = features.sections(0);
  ASSERT_EQ(sections.size(), 16u);
  std::vector<double> middles;
  for (const float mean : sections) middles.push_back(std::exp(mean) - 1.1);
  EXPECT_GT(middles[0], 0);
  EXPECT_LT(middles[0], 4);
  for (std::size_t k = 2; k < middles.size(); ++k)
    EXPECT_GT(middles[k] - middles[k - 1], 0.8 * (middles[k - 1] - middles[k - 2])) << k;
  EXPECT_GT(middles[15], 235);
  EXPECT_LT(middles[15], 257);
}

TEST(GainFeatures, MoreSectionsThanBinsRepeatTheLast) {
  const Spectrogram noisy{1, 3, {{1, 0}, {2, 0}, {3, 0}}};
  const GainFeatures features(noisy, std::vector<float>(3, 1), 6);
  for (int k = 0; k < 6; ++k)
    EXPECT_FLOAT_EQ(features.sections(0)[static_cast<std::size_t>(k)],
                    features.ratio(0, std::min(k, 2)))
        << k;
}

}  // namespace
}  // namespace kalmia::test
