// Networks that tell speech from noise: gains for the short-time spectrum of a recording.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/stft.hpp"
#include "model/batch.hpp"

namespace kalmia::audio {

struct GainSizes {
  int window = 512;  ///< samples of a frame
  int hidden = 128;  ///< units of each of the two encoders
  std::vector<int> decoder = {128};
};

/// Estimates speech S = G Y from noisy frames Y, the gain G of each bin in 0..1. An encoder reads
/// the frames forwards, one backwards; they see each bin's power over that of the noise, N, and the
/// shape of N, so that nothing depends on how loud a recording is. Before anything is learned
///
///   G = sigmoid(offset),   offset = (q - 1) / 2,   q = log(|Y|^2 / N + 0.1).
class GainModel {
 public:
  /// Counts the changes of what networks read: files of networks that read something else are
  /// refused.
  static constexpr int kFeatures = 1;

  /// With parameters to start from.
  GainModel(const GainSizes& sizes, std::uint64_t seed);
  GainModel(const GainSizes& sizes, std::span<const float> parameters);

  const GainSizes& sizes() const { return sizes_; }
  int bins() const { return sizes_.window / 2 + 1; }
  std::span<const float> parameters() const { return parameters_; }
  void set_parameters(std::span<const float> parameters);
  /// For the engine; its pointers stay good as long as the model is where it is.
  model::WindowModel<float> window() const;
  const model::Architecture& architecture() const { return architecture_; }

  /// Fills a lane with `count` frames from `first` on, and sets its length: what the networks read
  /// and where gains start from.
  void fill_lane(const Spectrogram& noisy, std::span<const float> noise_power, int first, int count,
                 int lane, model::LaneGroup<float>& group) const;

  GainModel(const GainModel&) = delete;
  GainModel& operator=(const GainModel&) = delete;

 private:
  GainSizes sizes_;
  model::Architecture architecture_;
  std::vector<float> parameters_;
  model::PackedNetwork<float> network_;
};

/// Multiplies the frames of several recordings by their gains. `noise_power`: one for each.
void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team);

}  // namespace kalmia::audio
