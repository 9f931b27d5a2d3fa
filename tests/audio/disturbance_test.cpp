#include "audio/disturbance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kalmia::test {
namespace {

double mean_square(std::span<const float> x) {
  double sum = 0;
  for (const float each : x) sum += static_cast<double>(each) * each;
  return sum / static_cast<double>(x.size());
}

// Correlation of neighbours.
double smoothness(std::span<const float> x) {
  double sum = 0;
  for (std::size_t n = 1; n < x.size(); ++n) sum += static_cast<double>(x[n]) * x[n - 1];
  return sum / static_cast<double>(x.size()) / mean_square(x);
}

TEST(Disturbance, ColoursDifferAndTheMeanSquareIsOne) {
  std::vector<float> noise(16000);
  double least = 1, most = -1;
  for (std::uint64_t i = 0; i < 50; ++i) {
    RandomStream random(1, "colours", i);
    audio::draw_coloured_noise(random, noise);
    EXPECT_NEAR(mean_square(noise), 1, 1e-4);
    least = std::min(least, smoothness(noise));
    most = std::max(most, smoothness(noise));
  }
  EXPECT_LT(least, -0.3);
  EXPECT_GT(most, 0.95);
}

TEST(Disturbance, IsSometimesNothingAndSometimesMoves) {
  std::vector<float> noise(16000);
  int none = 0, moving = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    RandomStream random(1, "disturbances", i);
    audio::draw_disturbance(random, 0.5f, noise);
    const double power = mean_square(noise);
    EXPECT_TRUE(std::isfinite(power));
    if (power == 0) {
      ++none;
      continue;
    }
    EXPECT_GT(power, 0.25 * 0.001);
    std::vector<double> parts;
    for (std::size_t n = 0; n < noise.size(); n += 2000)
      parts.push_back(mean_square(std::span(noise).subspan(n, 2000)));
    moving += *std::ranges::max_element(parts) > 4 * *std::ranges::min_element(parts);
  }
  // 0.8 times 0.75.
  EXPECT_NEAR(none, 0.6 * kDraws, 0.1 * kDraws);
  EXPECT_GT(moving, kDraws / 10);
}

TEST(Disturbance, FollowsTheLevelAndTheStream) {
  std::vector<float> one(1000), same(1000), loud(1000);
  bool heard = false;
  for (std::uint64_t i = 0; i < 20; ++i) {
    RandomStream a(1, "d", i), b(1, "d", i), c(1, "d", i);
    audio::draw_disturbance(a, 1, one);
    audio::draw_disturbance(b, 1, same);
    audio::draw_disturbance(c, 8, loud);
    EXPECT_EQ(one, same);
    for (std::size_t n = 0; n < one.size(); ++n) {
      EXPECT_NEAR(loud[n], 8 * one[n], 1e-4 * (1 + std::abs(loud[n])));
      heard |= one[n] != 0;
    }
  }
  EXPECT_TRUE(heard);
}

}  // namespace
}  // namespace kalmia::test
