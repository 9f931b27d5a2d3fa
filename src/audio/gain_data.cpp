#include "audio/gain_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audio/disturbance.hpp"
#include "audio/noise_power.hpp"

namespace kalmia::audio {
namespace {

constexpr int kBand = 16;

// Threads draw at the same time, and a Stft has room for one frame.
Stft& own_stft(int window) {
  thread_local std::unique_ptr<Stft> own;
  if (!own || own->window() != window) own = std::make_unique<Stft>(window);
  return *own;
}

// Root mean square of noise of this power.
float level_of(const std::vector<float>& power) {
  const double sum = std::accumulate(power.begin(), power.end(), 0.0);
  const double window = 2 * (static_cast<double>(power.size()) - 1);
  return static_cast<float>(std::sqrt(2 * sum / (window * static_cast<double>(power.size()))));
}

}  // namespace

double unsteadiness(const Spectrogram& noisy) {
  const std::vector<int> quiet = quiet_frames(noisy);
  const std::vector<float> power = mean_power(noisy, quiet);
  const int bands = (noisy.bins - 2) / kBand;
  if (quiet.empty() || bands < 1) return 0;
  double most = 0;
  for (int band = 0; band < bands; ++band) {
    double mean = 0, square = 0;
    for (const int t : quiet) {
      double ratio = 0;
      for (int f = 1 + kBand * band; f < 1 + kBand * (band + 1); ++f)
        ratio += std::norm(noisy.frame(t)[static_cast<std::size_t>(f)]) /
                 power[static_cast<std::size_t>(f)] / kBand;
      mean += ratio / static_cast<double>(quiet.size());
      square += ratio * ratio / static_cast<double>(quiet.size());
    }
    most = std::max(most, square - mean * mean);
  }
  return most;
}

GainData gain_data(std::vector<std::vector<float>> recordings, int window) {
  Stft stft(window);
  std::vector<std::size_t> steady, all;
  std::vector<std::vector<float>> powers;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const Spectrogram noisy = stft.forward(recordings[i]);
    powers.push_back(noise_power(noisy));
    all.push_back(i);
    if (unsteadiness(noisy) <= kMostUnsteady) steady.push_back(i);
  }
  GainData data;
  std::vector<std::vector<float>> power;
  std::vector<float> levels;
  for (const std::size_t i : steady.empty() ? all : steady) {
    data.recordings.push_back(std::move(recordings[i]));
    levels.push_back(level_of(powers[i]));
    power.push_back(std::move(powers[i]));
  }
  data.noise = [power = std::move(power), window](std::size_t recording, RandomStream& random,
                                                  std::span<float> noise) {
    make_noise(power[recording], random, own_stft(window), noise);
  };
  data.disturbance = [levels = std::move(levels)](std::size_t recording, RandomStream& random,
                                                  std::span<float> noise) {
    draw_disturbance(random, levels[recording], noise);
  };
  return data;
}

}  // namespace kalmia::audio
