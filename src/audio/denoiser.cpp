#include "audio/denoiser.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

constexpr double kWindowSeconds = 0.032;
// The frames before a block that its noise is found in: four seconds.
constexpr int kPastFrames = 500;
// The power spectra of larger samples, over the least power of noise, would overflow a float.
constexpr float kLargestSample = 1e9f;

void check(const DenoiserOptions& o, const GainModel* model) {
  const auto refuse = [](const std::string& text) { throw ConfigError(text); };
  if (o.channels < 1 || o.channels > Denoiser::kMostChannels)
    refuse(std::to_string(o.channels) + " channels, but there must be 1 to " +
           std::to_string(Denoiser::kMostChannels));
  const int least = model != nullptr ? Denoiser::kLeastNetworkRate : 1;
  if (o.rate < least || o.rate > Denoiser::kMostRate)
    refuse(std::to_string(o.rate) + " samples a second, but there must be " +
           std::to_string(least) + " to " + std::to_string(Denoiser::kMostRate) +
           (o.rate < least && o.rate > 0 ? " for the networks; use the method wiener" : ""));
}

BlockSizes sizes_of(const DenoiserOptions& o, int hop) {
  BlockSizes sizes;
  sizes.look_ahead = static_cast<int>(std::lround(o.look_ahead * o.rate / hop));
  sizes.look_ahead = std::max(sizes.look_ahead, sizes.context);
  sizes.noise = kPastFrames + sizes.block + sizes.look_ahead;
  return sizes;
}

}  // namespace

Denoiser::Denoiser(const DenoiserOptions& options, const GainModel* model, ThreadTeam& team)
    : options_((check(options, model), options)),
      sizes_(sizes_of(options, nearest_window(kWindowSeconds * options.rate) / Stft::kOverlap)),
      window_(nearest_window(kWindowSeconds * options.rate)),
      together_(options.together > 0 ? options.together
                                     : std::max(1, team.size() / options.channels)),
      suppressor_(model, options.suppress),
      team_(team) {
  for (int c = 0; c < options.channels; ++c)
    channels_.emplace_back(window_, sizes_, options.noise_power);
}

int Denoiser::delay() const {
  return (sizes_.block + sizes_.look_ahead + Stft::kOverlap) * (window_ / Stft::kOverlap);
}

void Denoiser::each_channel(const std::function<void(std::size_t)>& work) {
  team_.run(options_.channels, [&](int c, int) { work(static_cast<std::size_t>(c)); });
}

void Denoiser::check_samples(std::span<const float> samples, std::size_t before,
                             std::size_t channels) {
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!(std::abs(samples[i]) <= kLargestSample))
      throw DataError("sample " + std::to_string(before + i / channels) + ", channel " +
                      std::to_string(i % channels + 1) + ": value " + std::to_string(samples[i]) +
                      ", but samples must be finite and within 1e9; repair the recording");
}

std::vector<float> Denoiser::push(std::span<const float> samples) {
  const std::size_t C = channels_.size();
  if (samples.size() % C != 0)
    throw DataError(std::to_string(samples.size()) + " values, but they must be whole samples of " +
                    std::to_string(C) + " channels");
  check_samples(samples, pushed_, C);
  pushed_ += samples.size() / C;
  each_channel([&](std::size_t c) {
    std::vector<float> own;
    for (std::size_t i = c; i < samples.size(); i += C) own.push_back(samples[i]);
    channels_[c].push(own);
  });
  return work(together_);
}

std::vector<float> Denoiser::finish() {
  each_channel([&](std::size_t c) { channels_[c].finish(); });
  return work(1);
}

// Works on blocks while there are this many.
std::vector<float> Denoiser::work(int fewest) {
  const std::size_t C = channels_.size();
  std::vector<float> result;
  while (channels_[0].ready() >= fewest) {
    const auto blocks = static_cast<std::size_t>(std::min(together_, channels_[0].ready()));
    std::vector<Spectrogram> frames(blocks * C);
    std::vector<std::vector<float>> power(blocks * C);
    std::vector<BlockChannel::ContextBlock> taken(blocks * C);
    each_channel([&](std::size_t c) {
      for (std::size_t i = c * blocks; i < (c + 1) * blocks; ++i) {
        taken[i] = channels_[c].take_block();
        frames[i] = std::move(taken[i].frames);
        power[i] = std::move(taken[i].noise_power);
      }
    });
    suppressor_.apply(frames, power, team_);
    std::vector<std::vector<float>> samples(C);
    each_channel([&](std::size_t c) {
      for (std::size_t i = c * blocks; i < (c + 1) * blocks; ++i) {
        taken[i].frames = std::move(frames[i]);
        channels_[c].put_block(taken[i]);
      }
      samples[c] = channels_[c].take_samples();
    });
    for (std::size_t n = 0; n < samples[0].size(); ++n)
      for (std::size_t c = 0; c < C; ++c) result.push_back(samples[c][n]);
  }
  return result;
}

}  // namespace kalmia::audio
