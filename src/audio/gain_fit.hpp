// Networks trained on the recording that they shall clean.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "audio/gain_model.hpp"
#include "base/threads.hpp"
#include "data/sound_reader.hpp"
#include "kalmia/denoise.hpp"

namespace kalmia::audio {

struct GainFitOptions {
  double seconds = 10;  ///< that training may take
  std::uint64_t seed = 1;
};

/// A recording with frames of `from` at the lower rate at which frames of `to` are as long in time:
/// by way of its spectra, of which those bins are kept that `to` has as well.
std::vector<float> at_rate_of(Stft& to, Stft& from, std::span<const float> piece);

/// Reads the recording once, piece by piece, and trains `model` on pieces from all over it. Where
/// it has another rate than the networks, pieces get theirs.
/// `progress` gets the share that is done. Throws DataError for a recording that is too short, of
/// too low a rate or silent.
DenoiseFit fit_gains(GainModel& model, const std::string& source, data::SoundReader& sound,
                     int window, const GainFitOptions& options, ThreadTeam& team,
                     const std::function<bool(double)>& progress);

}  // namespace kalmia::audio
