#include "audio/gain_features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audio/wiener.hpp"

namespace kalmia::audio {
namespace {

constexpr float kLeastRatio = 0.1f;

// Where section k begins: bins (k / sections)^1.5, each of one bin at least.
std::vector<int> section_borders(int bins, int sections) {
  std::vector<int> borders{0};
  for (int k = 1; k <= sections; ++k) {
    const double border = bins * std::pow(static_cast<double>(k) / sections, 1.5);
    borders.push_back(
        std::min(bins, std::max(borders.back() + 1, static_cast<int>(std::lround(border)))));
  }
  return borders;
}

}  // namespace

GainFeatures::GainFeatures(const Spectrogram& noisy, std::span<const float> noise_power,
                           int sections)
    : frames_(noisy.frames),
      bins_(noisy.bins),
      sections_(sections),
      ratios_(noisy.values.size()),
      wiener_(signal_ratios(noisy, noise_power)),
      means_(static_cast<std::size_t>(noisy.frames) * static_cast<std::size_t>(sections)) {
  for (float& each : wiener_) each = std::log(each);
  const std::vector<int> borders = section_borders(bins_, sections);
  for (int t = 0; t < frames_; ++t) {
    const std::span<const std::complex<float>> frame = noisy.frame(t);
    float* ratios = ratios_.data() + place(t, 0);
    for (std::size_t f = 0; f < frame.size(); ++f)
      ratios[f] = std::log(std::norm(frame[f]) / noise_power[f] + kLeastRatio);
    for (int k = 0; k < sections; ++k) {
      const int first = std::min(borders[static_cast<std::size_t>(k)], bins_ - 1);
      const int last = std::max(first + 1, borders[static_cast<std::size_t>(k) + 1]);
      means_[static_cast<std::size_t>(t) * static_cast<std::size_t>(sections) +
             static_cast<std::size_t>(k)] =
          std::accumulate(ratios + first, ratios + last, 0.0f) / static_cast<float>(last - first);
    }
  }
}

}  // namespace kalmia::audio
