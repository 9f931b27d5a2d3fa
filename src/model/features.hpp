// From measurements to what the networks read and what their residual is centred at: the same
// function in training, batched inference and streaming.
#pragma once

#include <cstddef>
#include <vector>

namespace kalmia::model {

/// Per channel, in the units of the model (Units, learned_model.hpp):
///
///   increment   value less the one seen before it, over `step`; 0 while it is missing or the first
///   level       value seen last less `mean`, over `spread`; only where `use_level`
///   measured    1 or 0
///
/// and for the whole step, where the data have them: the logarithm of its length over the usual
/// one, and the control inputs that act during it, less their mean over their spread.
///
/// All are cut off at +-kFeatureLimit, so that no outlier can drive the networks anywhere.
/// Channels that wander give no level: the networks would meet levels they have never seen.
struct FeatureSpec {
  std::vector<double> mean;
  std::vector<double> spread;
  std::vector<double> step;
  std::vector<int> use_level;
  bool use_dt = false;
  std::vector<double> u_mean, u_spread;  ///< U
  /// The state that each channel measures, or -1: the residual is centred at its value.
  std::vector<int> measured_state;
  /// The channel that each state belongs to, or -1: all of them. Where the networks are shown
  /// nothing of the channel, the residual does not act on the state (a centre of NaN).
  std::vector<int> channel_of_state;

  int meas_dim() const { return static_cast<int>(mean.size()); }
  int control_dim() const { return static_cast<int>(u_mean.size()); }
  /// Features a step has.
  int input_dim() const;
  int state_dim() const { return static_cast<int>(channel_of_state.size()); }

  /// Takes in y (NaN: nothing is shown). `last` (M numbers, NaN until a value was seen) is moved
  /// on. The channels' features are written at every `stride`-th place, and so is `centre` (N).
  template <typename T>
  void step_to(const double* y, double* last, T* features, double* centre,
               std::ptrdiff_t stride = 1) const;
  /// How far the residual of each state is trusted (N), from the trust in what is shown of each
  /// channel (M, 0..1): that of its channel, or the mean of all.
  void trust_to(const double* channel_trust, double* trust, std::ptrdiff_t stride = 1) const;
  /// The centre of a state from one value of each channel, seen near it (NaN: none yet): the value
  /// of a measured state, 0 of others of its channel, NaN where nothing was seen.
  void seen_centre(const double* seen, double* centre, std::ptrdiff_t stride = 1) const;
  /// Writes the features of the step itself, which stand behind the channels': `dt_ratio` is its
  /// length over the usual one, `u` the U inputs.
  template <typename T>
  void drive_to(double dt_ratio, const double* u, T* features, std::ptrdiff_t stride = 1) const;

  /// Features of the channels alone.
  int channel_features() const;
};

inline constexpr double kFeatureLimit = 10;

}  // namespace kalmia::model
