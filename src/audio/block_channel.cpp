#include "audio/block_channel.hpp"

#include <algorithm>
#include <utility>

namespace kalmia::audio {

BlockChannel::BlockChannel(int window, const BlockSizes& sizes, std::vector<float> noise_power)
    : stft_(window),
      sizes_(sizes),
      known_power_(std::move(noise_power)),
      tracker_(stft_.bins(), sizes.noise),
      window_(static_cast<std::size_t>(window)),
      sum_(static_cast<std::size_t>(window)) {
  sizes_.look_ahead = std::max(sizes_.look_ahead, sizes_.context);
}

void BlockChannel::push(std::span<const float> samples) {
  const auto hop = static_cast<std::size_t>(stft_.hop());
  samples_ += samples.size();
  while (!samples.empty()) {
    const std::size_t count = std::min(samples.size(), hop - filled_);
    std::copy_n(samples.begin(), count, window_.end() - static_cast<std::ptrdiff_t>(hop - filled_));
    samples = samples.subspan(count);
    filled_ += count;
    if (filled_ == hop) add_hop(true);
  }
}

void BlockChannel::finish() {
  const int all = stft_.frames(samples_);
  while (frames_ < all) {
    std::fill(window_.end() - static_cast<std::ptrdiff_t>(stft_.hop()) +
                  static_cast<std::ptrdiff_t>(filled_),
              window_.end(), 0.0f);
    add_hop(false);
  }
  while (noted_ * sizes_.block < frames_) note_block();
}

// `whole`: the whole window is samples, unless it reaches beyond the beginning.
void BlockChannel::add_hop(bool whole) {
  std::vector<std::complex<float>>& frame = kept_.emplace_back(stft_.bins());
  stft_.forward_frame(window_.data(), frame.data());
  if (whole && frames_ >= Stft::kOverlap - 1) tracker_.add(frame);
  ++frames_;
  std::shift_left(window_.begin(), window_.end(), stft_.hop());
  filled_ = 0;
  if ((noted_ + 1) * sizes_.block + sizes_.look_ahead <= frames_) note_block();
}

void BlockChannel::note_block() {
  power_.push_back(known_power_.empty() ? tracker_.power() : known_power_);
  ++noted_;
}

BlockChannel::ContextBlock BlockChannel::take_block() {
  const std::int64_t block = taken_ * sizes_.block;
  const std::int64_t block_end = std::min(frames_, block + sizes_.block);
  const std::int64_t begin = std::max<std::int64_t>(0, block - sizes_.context);
  const std::int64_t end = std::min(frames_, block + sizes_.block + sizes_.context);
  ContextBlock taken;
  taken.frames = {static_cast<int>(end - begin), stft_.bins(), {}};
  taken.frames.values.reserve(static_cast<std::size_t>(end - begin) * kept_.front().size());
  for (std::int64_t t = begin; t < end; ++t) {
    const auto& frame = kept_[static_cast<std::size_t>(t - kept_begin_)];
    taken.frames.values.insert(taken.frames.values.end(), frame.begin(), frame.end());
  }
  taken.noise_power = std::move(power_.front());
  taken.first = static_cast<int>(block - begin);
  taken.count = static_cast<int>(block_end - block);
  power_.pop_front();
  ++taken_;
  // Frames that the next block does not see are dropped.
  for (; kept_begin_ < block_end - sizes_.context && !kept_.empty(); ++kept_begin_)
    kept_.pop_front();
  return taken;
}

void BlockChannel::put_block(const ContextBlock& taken) {
  const int hop = stft_.hop();
  std::vector<float> frame(window_.size());
  for (int t = taken.first; t < taken.first + taken.count; ++t) {
    stft_.inverse_frame(taken.frames.frame(t).data(), frame.data());
    for (std::size_t n = 0; n < frame.size(); ++n) sum_[n] += frame[n];
    // The first frames begin before the recording.
    if (++summed_ >= Stft::kOverlap) done_.insert(done_.end(), sum_.begin(), sum_.begin() + hop);
    std::shift_left(sum_.begin(), sum_.end(), hop);
    std::fill(sum_.end() - hop, sum_.end(), 0.0f);
  }
}

std::vector<float> BlockChannel::take_samples() {
  std::vector<float> samples = std::exchange(done_, {});
  // The last frame reaches beyond the end.
  samples.resize(std::min(samples.size(), samples_ - returned_));
  returned_ += samples.size();
  return samples;
}

}  // namespace kalmia::audio
