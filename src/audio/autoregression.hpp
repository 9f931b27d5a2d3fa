// Linear prediction: the dynamics of a sound from its spectrum.
#pragma once

#include <span>
#include <vector>

namespace kalmia::audio {

/// x[n] = sum_k a[k] x[n-1-k] + w[n], w of variance `innovation`.
struct Autoregression {
  std::vector<double> coefficients;
  double innovation = 0;
  /// E x[n] x[n-k], k = 0 .. order.
  std::vector<double> autocovariance;
};

/// The autoregression of this order that has the given autocovariances (order + 1 of them), by
/// Durbin's recursion. Where they are those of no process, the order is less, with zeros for the
/// rest: what is returned is always stable.
Autoregression autoregression(std::span<const double> autocovariance);

/// Autocovariances 0 .. `order` of a sound whose short-time frames (audio/stft.hpp) have this mean
/// power in each bin.
std::vector<double> autocovariance_of(std::span<const float> power, int order);

}  // namespace kalmia::audio
