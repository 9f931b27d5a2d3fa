// Makes the noise of a recording white, and takes that back.
#pragma once

#include <span>
#include <vector>

namespace kalmia::audio {

struct WhiteningOptions {
  int order = 16;      ///< samples that the predictor looks back on
  double share = 0.5;  ///< of the frames that count as noise: those it predicts best
  int frame = 512;     ///< samples
};

/// A linear predictor of a recording's noise, and the deviation of what it does not predict:
///
///   n[k] = sum of taps[j] n[k-1-j] + deviation w[k],   w white, of unit variance.
///
/// In the recording that `forward` makes, the noise is w. Both ways are exact inverses but for
/// rounding, begin with nothing before the first sample, and are stable.
struct Whitening {
  std::vector<double> taps;
  double deviation = 1;

  std::vector<float> forward(std::span<const float> sound) const;
  std::vector<float> inverse(std::span<const float> whitened) const;
};

/// The predictor is found by the autocorrelation method (Levinson-Durbin) in those frames that are
/// quiet: first by their energy, then, a few times, by the energy of what the last predictor
/// leaves of them. The first choice would be that of the noise itself where much of its power is at
/// few frequencies. A recording of silence is left as it is.
Whitening noise_whitening(std::span<const float> noisy, const WhiteningOptions& options = {});

}  // namespace kalmia::audio
