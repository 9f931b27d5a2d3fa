#include "audio/disturbance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace kalmia::audio {

void make_noise(std::span<const float> power, RandomStream& random, Stft& stft,
                std::span<float> noise) {
  // A window more on either side, so that no frame that counts is cut.
  const auto margin = static_cast<std::size_t>(stft.window());
  std::vector<float> white(noise.size() + 2 * margin);
  for (float& each : white) each = static_cast<float>(random.normal());
  Spectrogram spectra = stft.forward(white);
  std::vector<float> factor;
  for (const float each : power)
    factor.push_back(std::sqrt(2 * each / static_cast<float>(stft.window())));
  for (int t = 0; t < spectra.frames; ++t)
    for (std::size_t f = 0; f < factor.size(); ++f) spectra.frame(t)[f] *= factor[f];
  const std::vector<float> shaped = stft.inverse(spectra, white.size());
  std::copy_n(shaped.begin() + stft.window(), noise.size(), noise.begin());
}

namespace {

constexpr double kSharpest = 0.98;  // radius of a pole
constexpr int kSettling = 200;      // samples until the start is forgotten: 0.98^200 = 0.02
// The shares of recordings that get steady noise, and noise whose level moves.
constexpr double kSteady = 0.2, kMoving = 0.25;
constexpr double kLowestDb = -15, kHighestDb = 0;  // of what is added, over `level`
// Noise that moves has a level of exp(depth v), with v standard normal every so many samples and
// smooth in between.
constexpr double kLeastDepth = 0.3, kMostDepth = 1;
constexpr double kShortest = 800, kLongest = 8000;

// x[n] = w[n] + 2 r cos(a) x[n-1] - r^2 x[n-2].
struct Resonance {
  double first, second;
  double before = 0, earlier = 0;

  explicit Resonance(RandomStream& random) {
    const double radius = kSharpest * std::sqrt(random.uniform());
    const double u = random.uniform();
    first = 2 * radius * std::cos(std::numbers::pi * u * u);  // low frequencies more often
    second = -radius * radius;
  }
  double next(double w) {
    const double x = w + first * before + second * earlier;
    earlier = before;
    return before = x;
  }
};

double random_factor(RandomStream& random) {
  return std::pow(10.0, random.uniform(kLowestDb, kHighestDb) / 20);
}

}  // namespace

void draw_coloured_noise(RandomStream& random, std::span<float> noise) {
  Resonance one(random), two(random);
  double sum = 0;
  for (int n = 0; n < kSettling; ++n) two.next(one.next(random.normal()));
  for (float& each : noise) {
    const double x = two.next(one.next(random.normal()));
    each = static_cast<float>(x);
    sum += x * x;
  }
  if (sum == 0) return;
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(noise.size()) / sum));
  for (float& each : noise) each *= scale;
}

void draw_disturbance(RandomStream& random, float level, std::span<float> noise) {
  std::ranges::fill(noise, 0.0f);
  std::vector<float> colour(noise.size());
  if (random.uniform() < kSteady) {
    draw_coloured_noise(random, colour);
    const auto factor = static_cast<float>(level * random_factor(random));
    for (std::size_t n = 0; n < noise.size(); ++n) noise[n] += factor * colour[n];
  }
  if (random.uniform() < kMoving) {
    draw_coloured_noise(random, colour);
    const double factor = level * random_factor(random);
    const double depth = random.uniform(kLeastDepth, kMostDepth);
    const auto stretch =
        static_cast<std::size_t>(std::exp(random.uniform(std::log(kShortest), std::log(kLongest))));
    std::array<double, 2> v{random.normal(), random.normal()};
    for (std::size_t n = 0; n < noise.size(); ++n) {
      const std::size_t k = n % stretch;
      if (k == 0 && n > 0) v = {v[1], random.normal()};
      const double share = 0.5 - 0.5 * std::cos(std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(stretch));
      noise[n] +=
          static_cast<float>(factor * std::exp(depth * (v[0] + share * (v[1] - v[0])))) * colour[n];
    }
  }
}

}  // namespace kalmia::audio
