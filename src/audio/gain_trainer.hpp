// Training of gains from noisy recordings alone.
#pragma once

#include <functional>
#include <vector>

#include "audio/gain_model.hpp"
#include "base/random.hpp"
#include "train/training_loop.hpp"

namespace kalmia::audio {

/// Draws as many samples as asked for of noise like that of a recording.
using NoiseMaker =
    std::function<void(std::size_t recording, RandomStream& random, std::span<float> noise)>;

/// What is learned from. No clean sound.
struct GainData {
  std::vector<std::vector<float>> recordings;
  NoiseMaker noise;
  NoiseMaker disturbance;  ///< of any kind, for the input alone; may be empty
};

struct GainTraining {
  int updates = 2000;
  int frames = 128;  ///< of a recording that one update reads
  int batch = 16;    ///< recordings in an update
  double learning_rate = 1e-2;
  int patience = 40;
  std::uint64_t seed = 1;
};

/// To a recording y = s + n more noise n' of the same kind is added, and the networks learn from
///
///   z = y + n'   to find   y - n'.
///
/// What is wrong with the two is uncorrelated if n and n' are alike, (n + n')' (n - n') = 0 in the
/// mean: so what is learned is to find s in z, and nothing of the noise. Used on y itself,
/// which has less noise; the networks see how much there is.
///
/// Reference: Pang et al. (2021), Recorrupted-to-Recorrupted; Moran et al. (2020).
///
/// Networks are chosen by the same loss on `held_out`.
train::LoopResult train_gains(GainModel& model, const GainData& training, const GainData& held_out,
                              const GainTraining& options, ThreadTeam& team,
                              const std::function<bool(FitProgress&)>& progress);

}  // namespace kalmia::audio
