#include "audio/noise_power.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audio/wiener.hpp"

namespace kalmia::audio {
namespace {

// Rounds of choosing quiet frames by the spectrum of the last ones.
constexpr int kRounds = 4;
// Frames at either end that hold less than a whole window.
constexpr int kCut = Stft::kOverlap - 1;

double energy(std::span<const std::complex<float>> frame) {
  double sum = 0;
  for (const std::complex<float>& each : frame) sum += std::norm(each);
  return sum;
}

// Sum of log(1 + |Y|^2 / N). The logarithm is taken of products: it costs more than all the rest.
double whitened(std::span<const std::complex<float>> frame, const std::vector<float>& inverse) {
  constexpr std::size_t kFactors = 8;  // each below 1e38
  double sum = 0;
  for (std::size_t begin = 0; begin < frame.size(); begin += kFactors) {
    double product = 1;
    for (std::size_t f = begin; f < std::min(frame.size(), begin + kFactors); ++f)
      product *= 1 + static_cast<double>(std::norm(frame[f]) * inverse[f]);
    sum += std::log(product);
  }
  return sum;
}

// The `count` frames of the smallest values, in their order.
std::vector<int> smallest(const std::vector<int>& frames, const std::vector<double>& values,
                          std::size_t count) {
  std::vector<std::size_t> order(frames.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(frames[order[i]]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<int> whole_frames(const Spectrogram& noisy) {
  std::vector<int> frames;
  const int cut = noisy.frames > 2 * kCut ? kCut : 0;
  for (int t = cut; t < noisy.frames - cut; ++t) frames.push_back(t);
  return frames;
}

std::vector<int> quiet_frames(const Spectrogram& noisy, const QuietOptions& options) {
  const std::vector<int> frames = whole_frames(noisy);
  const auto share = static_cast<std::size_t>(options.share * static_cast<double>(frames.size()));
  const std::size_t count =
      std::min(frames.size(), std::max(share, static_cast<std::size_t>(options.fewest)));
  std::vector<double> values(frames.size());
  const auto choose = [&](const auto& loudness) {
    std::transform(frames.begin(), frames.end(), values.begin(),
                   [&](int t) { return loudness(noisy.frame(t)); });
    return smallest(frames, values, count);
  };
  std::vector<int> quiet = choose(energy);
  for (int round = 0; round < kRounds && options.by == Quiet::Whitened; ++round) {
    std::vector<float> inverse = mean_power(noisy, quiet);
    for (float& each : inverse) each = 1 / each;
    std::vector<int> next = choose(
        [&](std::span<const std::complex<float>> frame) { return whitened(frame, inverse); });
    if (next == quiet) break;
    quiet = std::move(next);
  }
  return quiet;
}

std::vector<float> mean_power(const Spectrogram& spectrogram, const std::vector<int>& frames) {
  std::vector<double> sums(static_cast<std::size_t>(spectrogram.bins));
  for (const int t : frames) {
    const std::span<const std::complex<float>> frame = spectrogram.frame(t);
    for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += std::norm(frame[f]);
  }
  std::vector<float> power;
  for (const double sum : sums)
    power.push_back(std::max(
        kLeastPower,
        static_cast<float>(sum / std::max<double>(1, static_cast<double>(frames.size())))));
  return power;
}

namespace {

// E |N|^2 of a bin where the filter finds this ratio of signal to noise.
float expected_noise(std::complex<float> noisy, float ratio, float power) {
  const float rest = 1 / (1 + ratio);  // 1 - G
  return rest * rest * std::norm(noisy) + (1 - rest) * power;
}

}  // namespace

std::vector<float> noise_power(const Spectrogram& noisy, const NoisePowerOptions& options) {
  std::vector<float> power = mean_power(noisy, quiet_frames(noisy, options.quiet));
  const std::vector<int> frames = whole_frames(noisy);
  for (int round = 0; round < options.rounds && !frames.empty(); ++round) {
    const std::vector<float> ratios = signal_ratios(noisy, power);
    std::vector<double> sums(power.size());
    for (const int t : frames)
      for (std::size_t f = 0; f < sums.size(); ++f)
        sums[f] += expected_noise(noisy.frame(t)[f],
                                  ratios[static_cast<std::size_t>(t) * sums.size() + f], power[f]);
    for (std::size_t f = 0; f < sums.size(); ++f)
      power[f] =
          std::max(kLeastPower, static_cast<float>(sums[f] / static_cast<double>(frames.size())));
  }
  return power;
}

}  // namespace kalmia::audio
