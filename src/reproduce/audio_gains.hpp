// Methods of the audio experiment that have a model of the noise.
#pragma once

#include "reproduce/audio_method.hpp"

namespace kalmia::reproduction {

/// The Wiener filter with the noise's spectrum from all frames of the recording, and, with speech
/// as it finds it, a Kalman filter of speech and noise as two parts of one state.
AudioTask noise_model_audio();

/// Gains by networks that are trained once, on the noisy training recordings of all noises, and
/// used in every column.
AudioTask gains_audio();

}  // namespace kalmia::reproduction
