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
/// All are cut off at +-kFeatureLimit, so that no outlier can drive the networks anywhere.
/// Channels that wander give no level: the networks would meet levels they have never seen.
struct FeatureSpec {
  std::vector<double> mean;
  std::vector<double> spread;
  std::vector<double> step;
  std::vector<int> use_level;
  /// The state that each channel measures: the residual is centred at its value.
  std::vector<int> measured_state;
  /// The channel that each state belongs to. While the channel is missing, the residual does not
  /// act on the state (a centre of NaN), and while all are, there is no residual: in a gap the
  /// expert map alone leads on, and nothing learned can run away.
  std::vector<int> channel_of_state;

  int meas_dim() const { return static_cast<int>(mean.size()); }
  /// Features a step has.
  int input_dim() const;
  int state_dim() const { return static_cast<int>(channel_of_state.size()); }

  /// Takes in y (NaN = missing). `last` (M numbers, NaN until a value was seen) is moved on.
  /// `features` is written at every `stride`-th place, and so is `centre` (N).
  template <typename T>
  void step_to(const double* y, double* last, T* features, double* centre,
               std::ptrdiff_t stride = 1) const;
};

inline constexpr double kFeatureLimit = 10;

}  // namespace kalmia::model
