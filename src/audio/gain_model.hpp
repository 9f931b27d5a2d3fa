// Networks that tell speech from noise: gains for the short-time spectrum of a recording.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/gain_features.hpp"
#include "audio/gain_head.hpp"
#include "audio/stft.hpp"
#include "base/threads.hpp"

namespace kalmia::audio {

struct GainSizes {
  int window = 512;   ///< samples of a frame
  int width = 4;      ///< bins of a band
  int reach = 8;      ///< bins on either side of a band that its networks see
  int sections = 16;  ///< means over the whole spectrum that they see besides
  int hidden = 48;    ///< units of each of the two encoders
  std::vector<int> decoder = {32};
};

/// Estimates speech S = G Y from noisy frames Y, the gain G of each bin in 0..1. The spectrum is
/// cut into bands of a few bins; the same networks, an encoder that reads the frames forwards and
/// one backwards, look at each band with what is around it. What they learn about a band holds for
/// all: they have 64 times the examples that networks for the whole spectrum have, and cannot learn
/// the spectra of a few noises by heart. Before anything is learned
///
///   G = sigmoid(log r),   r the Wiener filter's ratio of signal to noise,
///
/// so that networks begin as the Wiener filter, and learn what is to be changed of it.
class GainModel {
 public:
  /// Counts the changes of what networks read: files of networks that read something else are
  /// refused.
  static constexpr int kFeatures = 2;

  /// Draws parameters to start from.
  GainModel(const GainSizes& sizes, std::uint64_t seed);
  GainModel(const GainSizes& sizes, std::span<const float> parameters);

  const GainSizes& sizes() const { return sizes_; }
  int bins() const { return sizes_.window / 2 + 1; }
  /// Bins that are left over at the top have the gain of the highest band's last.
  int bands() const { return bins() / sizes_.width; }
  /// The lowest bins keep the gain of the Wiener filter. Below 50 Hz there is no voice, but drift
  /// and hum, of which networks learn nothing that holds for other recordings.
  static constexpr int kVoiceless = 2;
  std::span<const float> parameters() const { return parameters_; }
  void set_parameters(std::span<const float> parameters);
  /// For the engine; its pointers stay good as long as the model is where it is.
  GainWindow<float> window() const;
  const engine::NetworkLayout& architecture() const { return architecture_; }

  /// Fills the first lanes of a group with bands of `count` frames from `first` on: what the
  /// networks read and where gains start from. The other lanes get the length 0.
  void fill_lanes(const GainFeatures& features, std::span<const int> bands, int first, int count,
                  GainGroup<float>& group) const;

  GainModel(const GainModel&) = delete;
  GainModel& operator=(const GainModel&) = delete;

 private:
  GainSizes sizes_;
  engine::NetworkLayout architecture_;
  std::vector<float> parameters_;
  engine::PackedNetwork<float> network_;
};

/// Multiplies the frames of several recordings by their gains. `noise_power`: one for each.
void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team);

}  // namespace kalmia::audio
