// Gains for recordings of any rate.
#pragma once

#include <span>
#include <vector>

#include "audio/gain_model.hpp"
#include "audio/stft.hpp"
#include "base/threads.hpp"

namespace kalmia::audio {

/// How strongly noise is taken away.
struct SuppressorOptions {
  double least_gain = 0;  ///< no bin gets less
  double strength = 1;    ///< 0: everything stays as it is
};

/// Multiplies spectra by gains: those of networks, or without them those of the Wiener filter.
///
/// Networks were trained at one rate. At another the window has the same length in time, so that
/// bins lie at the same frequencies: those that the networks know are theirs. Bins above get the
/// gain of the Wiener filter; bins that are missing are shown to the networks as noise alone.
class Suppressor {
 public:
  /// `model` may be null; it must outlive this.
  Suppressor(const GainModel* model, const SuppressorOptions& options)
      : model_(model), options_(options) {}

  /// `noise_power`: one for each piece.
  void apply(std::span<Spectrogram> pieces, std::span<const std::vector<float>> noise_power,
             ThreadTeam& team) const;

 private:
  std::vector<Spectrogram> by_networks(std::span<const Spectrogram> pieces,
                                       std::span<const std::vector<float>> noise_power,
                                       ThreadTeam& team) const;

  const GainModel* model_;
  SuppressorOptions options_;
};

}  // namespace kalmia::audio
