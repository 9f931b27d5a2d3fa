// The measurement noise as a user states it.
#pragma once

#include <string>
#include <vector>

namespace kalmia::model {

struct NoiseSpec {
  enum class Kind {
    Given,          ///< R is known
    LearnDiagonal,  ///< one variance for each channel
    LearnFull,      ///< a covariance
  };
  Kind kind = Kind::LearnDiagonal;
  /// M x M, in the user's units. Of a noise that is learned: where it starts, empty unless the data
  /// say how noisy each value is; then a common factor of those deviations is learned.
  std::vector<double> R;

  bool learned() const { return kind != Kind::Given; }
};

/// Reads `auto` (as `learn`), `0.5` (a standard deviation), `0.5,0.3` (one for each channel),
/// `0.25,0.1;0.1,0.3` (a covariance by rows), `learn` or `learn-full`. Throws ConfigError that
/// names the text, the value and the rule.
NoiseSpec parse_noise(const std::string& text, int meas_dim);

}  // namespace kalmia::model
