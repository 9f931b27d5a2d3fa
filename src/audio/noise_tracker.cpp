#include "audio/noise_tracker.hpp"

#include <algorithm>

#include "audio/noise_power.hpp"

namespace kalmia::audio {
namespace {

// The share of all frames. Speech that goes on for seconds leaves fewer pauses than a word does.
constexpr double kQuietShare = 0.15;
// There are many quiet frames here, so that few rounds are enough.
constexpr int kNoiseRounds = 2;
// A short sound must not be quiet as a whole.
constexpr int kFewest = 4;

bool is_silent(std::span<const std::complex<float>> frame) {
  double sum = 0;
  for (const std::complex<float>& each : frame) sum += std::norm(each);
  return sum <= kLeastPower * static_cast<double>(frame.size());
}

}  // namespace

NoiseTracker::NoiseTracker(int bins, int frames)
    : last_{0, bins, {}}, room_(std::max(1, frames / 2)) {}

void NoiseTracker::add(std::span<const std::complex<float>> frame) {
  skip_ = !skip_;
  if (!skip_ || is_silent(frame)) return;
  if (last_.frames < room_) {
    ++last_.frames;
    last_.values.resize(last_.values.size() + frame.size());
  }
  std::ranges::copy(frame, last_.frame(next_).begin());
  next_ = (next_ + 1) % room_;
}

std::vector<float> NoiseTracker::power() const {
  NoisePowerOptions options;
  options.quiet.share = kQuietShare;
  options.quiet.fewest = kFewest;
  options.rounds = kNoiseRounds;
  return noise_power(last_, options);
}

}  // namespace kalmia::audio
