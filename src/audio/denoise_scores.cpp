#include "audio/denoise_scores.hpp"

#include <algorithm>

#include "audio/sound_metrics.hpp"

namespace kalmia::audio {
namespace {

constexpr double kFrameSeconds = 0.032;

}  // namespace

WholeSound read_whole_sound(const std::string& path, const std::optional<data::RawSound>& raw) {
  data::SoundReader reader(path, raw);
  const auto C = static_cast<std::size_t>(reader.info().channels);
  WholeSound sound{reader.info().rate, std::vector<std::vector<float>>(C)};
  std::vector<float> block((1 << 14) * C);
  while (const std::size_t got = reader.read(block))
    for (std::size_t i = 0; i < got; ++i) sound.channels[i % C].push_back(block[i]);
  return sound;
}

SoundScores score(const WholeSound& estimate, const WholeSound& clean) {
  const int frame = std::max(1, static_cast<int>(kFrameSeconds * clean.rate));
  SoundScores mean;
  const double share = 1 / static_cast<double>(clean.channels.size());
  for (std::size_t c = 0; c < clean.channels.size(); ++c) {
    const std::size_t both = std::min(estimate.channels[c].size(), clean.channels[c].size());
    const auto found = std::span(estimate.channels[c]).first(both);
    const auto truth = std::span(clean.channels[c]).first(both);
    mean.mse += share * mean_square_error(found, truth);
    mean.snr_db += share * snr_db(found, truth);
    mean.segmental_snr_db += share * segmental_snr_db(found, truth, frame, heard(truth, frame));
    mean.si_sdr_db += share * si_sdr_db(found, truth);
  }
  return mean;
}

}  // namespace kalmia::audio
