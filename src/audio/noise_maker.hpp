// Gaussian noise of a given spectrum.
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

}  // namespace kalmia::audio
