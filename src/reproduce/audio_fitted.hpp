// Methods of the audio experiment that are models fitted by `kalmia::fit`, sample by sample.
#pragma once

#include <vector>

#include "kalmia/fit.hpp"
#include "reproduce/audio_method.hpp"

namespace kalmia::reproduction {

/// What of a fitted model is listened to.
enum class Heard {
  Predicted,   ///< y_pred[k], from what came before y[k]
  Filtered,    ///< x[k|<=k]
  Linearized,  ///< x[k|0:K], the backward pass
  Trained,     ///< x[k|0:K] by the networks that read the future (linearized if none were kept)
};

struct FittedSound {
  AudioMethod method;
  Heard heard = Heard::Filtered;
};

/// How recordings become series of white noise of unit variance, as far as that can be told from
/// the recording itself. Both divide by the same deviation and the rest of whitening has the
/// determinant 1, so that held-out losses of the two may be compared.
enum class Levelled {
  /// Divided by the deviation of that part of its noise that a linear predictor does not predict.
  /// Noise that lasts from sample to sample stays so.
  Scaled,
  /// That part alone is left of the noise (audio::Whitening); estimates go the way back.
  Whitened,
};

/// Fits to noisy training recordings, choosing by noisy validation ones, then runs over the test
/// recordings. Quick runs make fewer updates. `seconds`: expected of a column.
AudioTask fitted_audio(const FitOptions& options, Levelled levelled,
                       std::vector<FittedSound> sounds, double seconds);

}  // namespace kalmia::reproduction
