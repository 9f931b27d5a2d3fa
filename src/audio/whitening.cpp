#include "audio/whitening.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "audio/autoregression.hpp"

namespace kalmia::audio {
namespace {

constexpr int kWhiteningRounds = 3;
// White noise that is thought to be in every frame, relative to its power: 40 dB below.
constexpr double kLoad = 1e-4;
constexpr std::size_t kFewestFrames = 4;

using Correlation = std::vector<double>;  // at lags 0..order

// Of a frame seen through a sine, so that its ends do not count; lag 0 is its mean square.
Correlation correlation(std::span<const float> frame, std::size_t order) {
  std::vector<double> seen(frame.size());
  for (std::size_t n = 0; n < frame.size(); ++n)
    seen[n] = frame[n] * std::sin(std::numbers::pi * (static_cast<double>(n) + 0.5) /
                                  static_cast<double>(frame.size()));
  Correlation c(order + 1);
  for (std::size_t lag = 0; lag <= order; ++lag) {
    for (std::size_t n = lag; n < seen.size(); ++n) c[lag] += seen[n] * seen[n - lag];
    c[lag] *= 2 / static_cast<double>(seen.size());
  }
  return c;
}

// Mean square of what the taps leave of a frame.
double left_over(const Correlation& c, const std::vector<double>& taps) {
  double sum = c[0];
  for (std::size_t i = 0; i < taps.size(); ++i) {
    sum -= 2 * taps[i] * c[i + 1];
    for (std::size_t j = 0; j < taps.size(); ++j)
      sum += taps[i] * taps[j] * c[i > j ? i - j : j - i];
  }
  return sum;
}

}  // namespace

std::vector<float> Whitening::forward(std::span<const float> sound) const {
  std::vector<float> result(sound.size());
  for (std::size_t k = 0; k < sound.size(); ++k) {
    double w = sound[k];
    for (std::size_t j = 0; j < std::min(k, taps.size()); ++j) w -= taps[j] * sound[k - 1 - j];
    result[k] = static_cast<float>(w / deviation);
  }
  return result;
}

std::vector<float> Whitening::inverse(std::span<const float> whitened) const {
  std::vector<double> sound(whitened.size());  // rounding to float would be fed back
  for (std::size_t k = 0; k < whitened.size(); ++k) {
    sound[k] = deviation * whitened[k];
    for (std::size_t j = 0; j < std::min(k, taps.size()); ++j)
      sound[k] += taps[j] * sound[k - 1 - j];
  }
  return std::vector<float>(sound.begin(), sound.end());
}

Whitening noise_whitening(std::span<const float> noisy, const WhiteningOptions& options) {
  const auto order = static_cast<std::size_t>(options.order);
  const std::size_t length = std::min(noisy.size(), static_cast<std::size_t>(options.frame));
  std::vector<Correlation> frames;
  for (std::size_t at = 0; length > 0 && at + length <= noisy.size(); at += (length + 1) / 2)
    frames.push_back(correlation(noisy.subspan(at, length), order));
  std::vector<double> loudness;
  for (const Correlation& each : frames) loudness.push_back(each[0]);
  const std::size_t count = std::min(
      frames.size(),
      std::max(kFewestFrames,
               static_cast<std::size_t>(options.share * static_cast<double>(frames.size()))));
  Whitening whitening;
  for (int round = 0; round < kWhiteningRounds; ++round) {
    std::vector<std::size_t> order_of(frames.size());
    std::iota(order_of.begin(), order_of.end(), std::size_t{0});
    std::stable_sort(order_of.begin(), order_of.end(),
                     [&](std::size_t a, std::size_t b) { return loudness[a] < loudness[b]; });
    Correlation mean(order + 1);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t lag = 0; lag <= order; ++lag)
        mean[lag] += frames[order_of[i]][lag] / static_cast<double>(count);
    if (!(mean[0] > 0)) return {};
    mean[0] *= 1 + kLoad;
    const Autoregression noise = autoregression(mean);
    whitening.taps = noise.coefficients;
    whitening.deviation = std::sqrt(noise.innovation);
    std::transform(frames.begin(), frames.end(), loudness.begin(),
                   [&](const Correlation& each) { return left_over(each, whitening.taps); });
  }
  return whitening;
}

}  // namespace kalmia::audio
