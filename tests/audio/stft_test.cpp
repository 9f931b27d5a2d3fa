#include "audio/stft.hpp"

#include <gtest/gtest.h>

#include "audio/sound_cases.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

using audio::Spectrogram;
using audio::Stft;

TEST(Stft, AFrameIsTheFourierTransformOfTheWindowedSamples) {
  for (const int W : {32, 12, 60, 28, 44, 8}) {
    Stft stft(W);
    const std::vector<float> x = white_noise(W, 1, 1);
    std::vector<std::complex<float>> found(static_cast<std::size_t>(stft.bins()));
    stft.forward_frame(x.data(), found.data());
    for (int f = 0; f <= W / 2; ++f) {
      std::complex<double> expected = 0;
      for (int n = 0; n < W; ++n) {
        const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * n / W);
        expected += std::sqrt(hann) * x[static_cast<std::size_t>(n)] *
                    std::polar(1.0, -2 * std::numbers::pi * f * n / W);
      }
      EXPECT_NEAR(found[static_cast<std::size_t>(f)].real(), expected.real(), 1e-5)
          << W << " " << f;
      EXPECT_NEAR(found[static_cast<std::size_t>(f)].imag(), expected.imag(), 1e-5)
          << W << " " << f;
    }
  }
}

TEST(Stft, FramesLieAQuarterOfAWindowApart) {
  Stft stft(16);
  std::vector<float> x(41);
  for (std::size_t n = 0; n < x.size(); ++n) x[n] = static_cast<float>(n + 1);
  const Spectrogram all = stft.forward(x);
  ASSERT_EQ(all.frames, stft.frames(x.size()));
  std::vector<float> frame(16);
  std::vector<std::complex<float>> expected(9);
  for (int t = 0; t < all.frames; ++t) {
    for (int n = 0; n < 16; ++n) {
      const int at = 4 * (t + 1) - 16 + n;
      frame[static_cast<std::size_t>(n)] =
          at >= 0 && at < 41 ? x[static_cast<std::size_t>(at)] : 0.0f;
    }
    stft.forward_frame(frame.data(), expected.data());
    for (std::size_t f = 0; f < 9; ++f) EXPECT_EQ(all.frame(t)[f], expected[f]) << t;
  }
  // The last frame still holds the last sample, another would not.
  EXPECT_LE(4 * all.frames - 16, 40);
  EXPECT_GT(4 * (all.frames + 1) - 16, 40);
}

TEST(Stft, BackIsTheSignal) {
  for (const int window : {128, 8, 12, 176, 280, 1408}) {
    for (const int samples : {1, 3, 7, 128, 500, 1601}) {
      Stft stft(window);
      const std::vector<float> x = white_noise(samples, 1, 2);
      const std::vector<float> back = stft.inverse(stft.forward(x), x.size());
      ASSERT_EQ(back.size(), x.size());
      for (std::size_t n = 0; n < x.size(); ++n)
        EXPECT_NEAR(back[n], x[n], 2e-6) << window << " " << samples;
    }
  }
}

TEST(Stft, NothingIsNoFrame) {
  Stft stft(64);
  EXPECT_EQ(stft.frames(0), 0);
  EXPECT_EQ(stft.forward({}).frames, 0);
  EXPECT_TRUE(stft.inverse(stft.forward({}), 0).empty());
}

TEST(Stft, AWindowHasSmallFactors) {
  for (const int window : {0, -8, 4, 10, 52, 510})
    EXPECT_THROW(Stft{window}, ConfigError) << window;
}

TEST(Stft, TheNearestWindow) {
  // 32 ms at the usual rates.
  EXPECT_EQ(audio::nearest_window(0.032 * 16000), 512);
  EXPECT_EQ(audio::nearest_window(0.032 * 48000), 1536);
  EXPECT_EQ(audio::nearest_window(0.032 * 44100), 1408);
  EXPECT_EQ(audio::nearest_window(0.032 * 22050), 704);
  EXPECT_EQ(audio::nearest_window(0.032 * 8000), 256);
  EXPECT_EQ(audio::nearest_window(0.032 * 384000), 12288);
  EXPECT_EQ(audio::nearest_window(0.032), 8);
}

}  // namespace
}  // namespace kalmia::test
