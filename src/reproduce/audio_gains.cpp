#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "audio/gain_data.hpp"
#include "audio/gain_file.hpp"
#include "audio/noise_power.hpp"
#include "audio/two_part_filter.hpp"
#include "audio/wiener.hpp"
#include "base/atomic_file.hpp"
#include "reproduce/audio_methods.hpp"

namespace kalmia::reproduction {
namespace {

using audio::GainModel;
using audio::Spectrogram;

// What is learned once. A copy of it is cheap.
struct Networks {
  std::shared_ptr<const GainModel> model;
  bool kept = false;  // they beat the Wiener filter on what was held out
};

constexpr int kUpdates = 4000, kQuickUpdates = 60;
// For `kalmia denoise --model`.
constexpr const char* kNetworksFile = "speech.kalmia-gains";

audio::GainSizes sizes_of(bool quick) {
  audio::GainSizes sizes;
  if (quick) sizes.hidden = 24;
  return sizes;
}

// No clean sound is here to be seen.
Networks trained(const AudioPreparation& given) {
  const audio::GainSizes sizes = sizes_of(given.quick);
  const auto model = std::make_shared<GainModel>(sizes, given.seed);
  NoisySpeech noisy = given.noisy("combined");
  audio::GainTraining training;
  training.updates = given.quick ? kQuickUpdates : kUpdates;
  training.seed = given.seed;
  ThreadTeam team(given.threads);
  const train::LoopResult result =
      train_gains(*model, audio::gain_data(std::move(noisy.training), sizes.window),
                  audio::gain_data(std::move(noisy.validation), sizes.window), training, team,
                  [&given](FitProgress&) { return !given.go_on || given.go_on(); });
  if (!given.out.empty() && result.stop_reason != StopReason::Interrupted)
    write_file_atomically((std::filesystem::path(given.out) / kNetworksFile).string(),
                          gain_file_bytes(*model));
  return {model, result.best_update > 0};
}

AudioOutcome cleaned(const Networks& networks, const AudioWork& work) {
  const GainModel& model = *networks.model;
  audio::Stft stft(model.sizes().window);
  ThreadTeam team(work.threads);
  AudioOutcome outcome;
  // One at a time: the bands of a recording fill the lanes.
  for (const Sound& noisy : work.noisy->test) {
    if (work.go_on && !work.go_on()) break;
    Spectrogram frames = stft.forward(noisy);
    const std::vector<std::vector<float>> power{audio::noise_power(frames)};
    apply_gains(model, std::span(&frames, 1), power, team);
    outcome.estimates.push_back(stft.inverse(frames, noisy.size()));
  }
  outcome.networks_kept = networks.kept;
  return outcome;
}

}  // namespace

AudioTask noise_model_audio() {
  AudioTask task;
  task.methods = {
      {"wiener-frames", "spectral Wiener filter, noise from all frames of the recording", true},
      {"two-part-kalman", "Kalman filter of speech and noise, each with its own dynamics", true}};
  task.cost = [](const AudioOptions& options) { return 0.1 * options.test; };
  task.run = [](const AudioWork& work) {
    audio::Stft stft(audio::GainSizes{}.window);
    std::vector<AudioOutcome> outcomes(2);
    for (const Sound& noisy : work.noisy->test) {
      Spectrogram frames = stft.forward(noisy);
      const std::vector<float> power = audio::noise_power(frames);
      wiener_filter(power, {}, frames);
      outcomes[0].estimates.push_back(stft.inverse(frames, noisy.size()));
      outcomes[1].estimates.push_back(two_part_filter(noisy, frames, power));
    }
    return outcomes;
  };
  return task;
}

AudioTask gains_audio() {
  AudioTask task;
  const audio::GainSizes sizes;
  task.methods = {{"gains",
                   "networks give gains to bands of the spectrum, trained on all noises at once",
                   true,
                   false,
                   {},
                   fmt::format("{} updates, hidden {}, bands of {} bins and {} on either side, {} "
                               "sections",
                               kUpdates, sizes.hidden, sizes.width, sizes.reach, sizes.sections)}};
  task.cost = [](const AudioOptions& options) { return 0.02 * options.test; };
  task.prepare = [](const AudioPreparation& given) { return std::any(trained(given)); };
  task.run = [](const AudioWork& work) {
    return std::vector{cleaned(std::any_cast<const Networks&>(work.prepared), work)};
  };
  return task;
}

}  // namespace kalmia::reproduction
