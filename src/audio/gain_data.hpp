// Noisy recordings made ready to learn gains from.
#pragma once

#include <vector>

#include "audio/gain_trainer.hpp"

namespace kalmia::audio {

/// How much the noise of a recording comes and goes: the variance over its quiet frames of the
/// power in a band of 16 bins, relative to its mean, in the band where that is largest. Some 0.14
/// in noise that stays as it is, of which short recordings have few frames.
double unsteadiness(const Spectrogram& noisy);

/// Recordings whose noise is less steady are left out, unless none would be left. The noise that is
/// added to a recording is steady: where its own is not, the networks would learn to keep what
/// comes and goes of it.
inline constexpr double kMostUnsteady = 0.18;

/// The noise that is added to a recording is Gaussian, of the power that noise_power() finds in it;
/// disturbances are those of draw_disturbance(). `window`: samples of a frame.
GainData gain_data(std::vector<std::vector<float>> recordings, int window);

}  // namespace kalmia::audio
