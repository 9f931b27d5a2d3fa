// Noise made for training: of a given spectrum, or of a kind that networks have not met.
#pragma once

#include <span>

#include "audio/stft.hpp"
#include "base/random.hpp"

namespace kalmia::audio {

/// Fills `noise` with Gaussian noise whose frames have the mean power `power` in each bin: the
/// frames of white noise, of which each bin has the mean power window / 2 (the sum of the squared
/// window), are multiplied by the root of what is wanted over that. Where `power` jumps from bin to
/// bin, the overlap of frames smooths it.
void make_noise(std::span<const float> power, RandomStream& random, Stft& stft,
                std::span<float> noise);

/// Gaussian noise of mean square 1 with a spectrum drawn at random: that of two resonances, each
/// anywhere between none and a sharp one.
void draw_coloured_noise(RandomStream& random, std::span<float> noise);

/// Noise as it happens beside speech, drawn at random: nothing, coloured noise that stays as it is,
/// or coloured noise that rises and falls. `level` is the root mean square of the noise that a
/// recording has already; what is added is between a fifth of it and as much.
///
/// Networks that shall tell speech from noise must not know one noise only. What is added to their
/// input alone they learn to take away, whatever it is, and nothing clean is needed for that.
void draw_disturbance(RandomStream& random, float level, std::span<float> noise);

}  // namespace kalmia::audio
