// Scores of recordings against the clean one.
#pragma once

#include <string>
#include <vector>

#include "data/sound_reader.hpp"
#include "kalmia/denoise.hpp"

namespace kalmia::audio {

/// A whole recording, channel after channel.
struct WholeSound {
  int rate = 0;
  std::vector<std::vector<float>> channels;
};

WholeSound read_whole_sound(const std::string& path, const std::optional<data::RawSound>& raw = {});

/// Means over channels, over as many samples as both have. NaN where nothing is heard.
SoundScores score(const WholeSound& estimate, const WholeSound& clean);

}  // namespace kalmia::audio
