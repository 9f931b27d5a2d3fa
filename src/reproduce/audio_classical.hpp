// Methods of the audio experiment that learn nothing from noisy recordings.
#pragma once

#include "kalmia/classical.hpp"
#include "reproduce/audio_method.hpp"

namespace kalmia::reproduction {

/// The recordings themselves.
AudioTask raw_audio();

/// A Kalman filter for white noise, tuned on clean speech. Its state is the last samples; what
/// predicts the next one is found in clean training utterances, the process noise is that of least
/// error on them.
AudioTask supervised_kalman_audio();

/// The spectral Wiener filter with the noise's spectrum from the quietest fifth of the frames of
/// the same recording.
AudioTask wiener_quiet_audio();
/// The same with the average spectrum of the noise's training range; where noises are combined,
/// that of the noise that was added.
AudioTask wiener_known_audio();
/// The Wiener gain from the clean and noise spectra of each frame themselves: what no such filter
/// can do better.
AudioTask wiener_oracle_audio();

/// x[k] = sum of taps[j] x[k-1-j] + N(0, q), seen with noise of variance R; the state is the last
/// samples, x[k] first.
LinearModel autoregression(const std::vector<double>& taps, double q, double R);

}  // namespace kalmia::reproduction
