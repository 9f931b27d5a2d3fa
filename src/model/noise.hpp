// The measurement noise: as a user states it, its tails, and what it comes to for the data at hand.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kalmia/option_rules.hpp"

namespace kalmia::model {

/// As the data say, value by value; learned, one variance for each channel, where they do not.
struct NoiseOfData {};
/// One variance for each channel, or a covariance.
struct LearnedNoise {
  bool full = false;
};
/// Standard deviations: one for all channels, or one for each.
struct NoiseDeviations {
  std::vector<double> stds;
};
struct NoiseCovariance {
  std::vector<std::vector<double>> rows;
};

/// What a user says of the noise.
struct StatedNoise {
  std::string text;  ///< as it was written
  std::variant<NoiseOfData, LearnedNoise, NoiseDeviations, NoiseCovariance> value;
};

/// `auto`, `learn`, `learn-full` and the forms of numbers, with what they mean.
std::vector<Choice> noise_forms();

/// Reads ModelOptions::noise. Throws ConfigError that names the text, the value and the rule.
StatedNoise parse_noise(const std::string& text);

/// The noise of so many channels.
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

/// What was stated, for data of `meas_dim` channels. Throws ConfigError for another number of them.
NoiseSpec noise_of_channels(const StatedNoise& stated, int meas_dim);

/// Gaussian, or learned where the data have outliers.
struct AutomaticTails {};
struct GaussianTails {};
struct StudentTails {
  double degrees_of_freedom = 4;
};
/// Student's t with degrees of freedom that are learned.
struct LearnedTails {};

using Tails = std::variant<AutomaticTails, GaussianTails, StudentTails, LearnedTails>;

/// Whether a fit begins with Gaussian noise.
inline bool is_gaussian(const Tails& tails) {
  return std::holds_alternative<GaussianTails>(tails) ||
         std::holds_alternative<AutomaticTails>(tails);
}

/// `auto`, `gaussian`, `learn` and the form of a number, with what they mean.
std::vector<Choice> tails_forms();

/// Reads ModelOptions::tails. Throws ConfigError.
Tails parse_tails(const std::string& text);

}  // namespace kalmia::model
