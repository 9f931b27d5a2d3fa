#include "audio/autoregression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"

namespace kalmia::test {
namespace {

using audio::Autoregression;

// x[n] = 1.2 x[n-1] - 0.5 x[n-2] + w[n], w of variance 2.
const std::vector<double> kCoefficients{1.2, -0.5};
constexpr double kInnovation = 2;

// From the Yule-Walker equations, solved by hand for order 2.
std::vector<double> autocovariances(std::size_t lags) {
  const double a = kCoefficients[0], b = kCoefficients[1];
  const double first = a / (1 - b);
  std::vector<double> r{kInnovation / (1 - a * first - b * (a * first + b))};
  r.push_back(first * r[0]);
  while (r.size() < lags) r.push_back(a * r[r.size() - 1] + b * r[r.size() - 2]);
  return r;
}

TEST(Autoregression, IsFoundInItsAutocovariances) {
  const Autoregression found = audio::autoregression(autocovariances(3));
  EXPECT_NEAR(found.coefficients[0], 1.2, 1e-4);
  EXPECT_NEAR(found.coefficients[1], -0.5, 1e-4);
  EXPECT_NEAR(found.innovation, 2, 1e-4);
}

TEST(Autoregression, OfAHigherOrderHasNothingMore) {
  const Autoregression found = audio::autoregression(autocovariances(7));
  EXPECT_NEAR(found.coefficients[0], 1.2, 1e-3);
  EXPECT_NEAR(found.coefficients[1], -0.5, 1e-3);
  for (std::size_t k = 2; k < 6; ++k) EXPECT_NEAR(found.coefficients[k], 0, 1e-3) << k;
}

TEST(Autoregression, WhatIsNoProcessGivesAStableOne) {
  for (const std::vector<double>& r :
       {std::vector<double>{1, 1.5, 0.2}, {1, 0.5, -3}, {0, 0, 0}, {1, 1, 1}}) {
    const Autoregression found = audio::autoregression(r);
    EXPECT_GT(found.innovation, 0);
    double x = 1, before = 0;
    for (int n = 0; n < 2000; ++n) {
      const double next = found.coefficients[0] * x + found.coefficients[1] * before;
      before = x;
      x = next;
    }
    EXPECT_LT(std::abs(x), 1.5);
  }
}

TEST(Autocovariance, OfAWhiteSpectrumAndOfATone) {
  // Frames of a window of 64: white noise of variance 3 has the power 3 * 32 in each bin.
  const std::vector<double> white = audio::autocovariance_of(std::vector<float>(33, 96), 3);
  EXPECT_NEAR(white[0], 3, 1e-6);
  for (std::size_t k = 1; k <= 3; ++k) EXPECT_NEAR(white[k], 0, 1e-6);
  std::vector<float> tone(33, 0);
  tone[8] = 1;
  const std::vector<double> r = audio::autocovariance_of(tone, 4);
  EXPECT_NEAR(r[1] / r[0], std::cos(2 * std::numbers::pi * 8 / 64), 1e-9);
  EXPECT_NEAR(r[4] / r[0], -1, 1e-9);
}

TEST(Autocovariance, OfFramesIsThatOfTheSound) {
  audio::Stft stft(512);
  RandomStream random(1, "ar");
  std::vector<float> sound;
  double x = 0, before = 0;
  for (int n = 0; n < 100000; ++n) {
    const double next =
        kCoefficients[0] * x + kCoefficients[1] * before + std::sqrt(kInnovation) * random.normal();
    before = x;
    x = next;
    sound.push_back(static_cast<float>(x));
  }
  const audio::Spectrogram frames = stft.forward(sound);
  std::vector<float> power(257, 0);
  for (int t = 4; t < frames.frames - 4; ++t)
    for (std::size_t f = 0; f < 257; ++f)
      power[f] += std::norm(frames.frame(t)[f]) / static_cast<float>(frames.frames - 8);
  const std::vector<double> found = audio::autocovariance_of(power, 2), r = autocovariances(3);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k] / r[0], r[k] / r[0], 0.04) << k;
}

}  // namespace
}  // namespace kalmia::test
