// Takes the noise out of sound, block by block: files of any length, and streams.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "audio/block_channel.hpp"
#include "audio/gain_model.hpp"
#include "audio/suppressor.hpp"
#include "base/threads.hpp"

namespace kalmia::audio {

struct DenoiserOptions {
  int rate = 16000;  ///< samples a second
  int channels = 1;
  SuppressorOptions suppress;
  double look_ahead = 2;  ///< seconds after a block that its noise is taken from
  /// Blocks that are collected before they are worked on together; 1: each at once. 0:
  /// as many as give each thread a channel of one.
  int together = 0;
  std::vector<float> noise_power = {};  ///< known beforehand, of all channels; empty: found
};

/// The samples that come out are those that went in, without noise: as many, at the same level and
/// the same place, whatever the portions they came in.
class Denoiser {
 public:
  /// Networks need this rate, since the speech they know is not heard below it.
  static constexpr int kLeastNetworkRate = 4000;
  static constexpr int kMostRate = 768000;
  static constexpr int kMostChannels = 64;

  /// `model`: null for the Wiener filter. Model and team must outlive this. Throws ConfigError.
  Denoiser(const DenoiserOptions& options, const GainModel* model, ThreadTeam& team);

  /// Throws DataError for a sample that push() does not take; `before`: samples of a channel that
  /// came before these.
  static void check_samples(std::span<const float> samples, std::size_t before,
                            std::size_t channels);

  int window() const { return window_; }  ///< samples of a frame
  /// Samples of a channel that must come in after a sample before it comes out, at most, with one
  /// block at a time.
  int delay() const;

  /// Takes samples (channels next to each other) and returns those that are finished. Throws
  /// DataError for one that is not finite.
  std::vector<float> push(std::span<const float> samples);
  /// All that can be finished without more samples.
  std::vector<float> catch_up() { return work(1); }
  /// No more samples will come: returns the rest.
  std::vector<float> finish();

 private:
  std::vector<float> work(int fewest);
  void each_channel(const std::function<void(std::size_t)>& work);

  DenoiserOptions options_;
  BlockSizes sizes_;
  int window_;
  int together_;
  Suppressor suppressor_;
  ThreadTeam& team_;
  std::vector<BlockChannel> channels_;
  std::size_t pushed_ = 0;  // samples of a channel
};

}  // namespace kalmia::audio
