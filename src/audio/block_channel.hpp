// One channel of a recording, cut into blocks of frames and put together again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "audio/noise_tracker.hpp"
#include "audio/stft.hpp"

namespace kalmia::audio {

/// How a recording is cut, in frames.
struct BlockSizes {
  int block = 256;
  /// The frames that networks see before and after a block: half a second, after which they have
  /// forgotten how they began.
  int context = 64;
  int look_ahead = 250;  ///< after a block that its noise is taken from; at least `context`
  int noise = 1000;      ///< that noise is taken from, ending with `look_ahead`
};

/// Samples in, blocks of spectra out; blocks of spectra in, samples out. Where blocks begin, what
/// they see and what their noise is depends on the samples alone, not on how they come in.
class BlockChannel {
 public:
  /// `noise_power`: known beforehand, or empty.
  BlockChannel(int window, const BlockSizes& sizes, std::vector<float> noise_power);

  void push(std::span<const float> samples);
  /// No more samples will come.
  void finish();

  /// Blocks that can be taken.
  int ready() const { return static_cast<int>(power_.size()); }
  /// A block with its context, and its noise's power.
  struct ContextBlock {
    Spectrogram frames;
    std::vector<float> noise_power;
    int first = 0;  ///< frame that belongs to the block
    int count = 0;
  };
  /// The next one; there must be one.
  ContextBlock take_block();
  /// Blocks come back in their order.
  void put_block(const ContextBlock& block);
  /// Samples that are finished, each once.
  std::vector<float> take_samples();

 private:
  void add_hop(bool whole);
  void note_block();

  Stft stft_;
  BlockSizes sizes_;
  std::vector<float> known_power_;
  NoiseTracker tracker_;
  std::vector<float> window_;  // of the next frame; the last hop is being filled
  std::size_t filled_ = 0;
  std::size_t samples_ = 0;  // that came in
  std::int64_t frames_ = 0;  // made so far
  std::deque<std::vector<std::complex<float>>> kept_;
  std::int64_t kept_begin_ = 0;           // the first of them
  std::deque<std::vector<float>> power_;  // of the blocks that are ready
  std::int64_t noted_ = 0;                // blocks whose noise is known
  std::int64_t taken_ = 0;                // blocks
  std::vector<float> sum_;                // of the frames over the next samples
  std::int64_t summed_ = 0;               // frames
  std::vector<float> done_;               // samples
  std::size_t returned_ = 0;
};

}  // namespace kalmia::audio
