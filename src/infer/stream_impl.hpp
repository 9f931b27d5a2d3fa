// What the public Stream holds.
#pragma once

#include "infer/model_impl.hpp"
#include "model/stream.hpp"

namespace kalmia {

struct Stream::Impl {
  explicit Impl(std::shared_ptr<const Model::Impl> shared_model);

  /// Predicts and updates with y (in the model's units, NaN = missing). `dt_ratio`: the length of
  /// the step over the usual one; `u`: the inputs that act during it, null at the first step.
  /// `weight`: of the components' noise, M numbers, null: 1.
  model::StreamResult step(const double* y, double dt_ratio, const double* u,
                           const double* weight = nullptr);
  /// Notes what the networks read next: y, unless the caller feeds predictions back.
  void show(const double* shown);
  /// Whether the moments are numbers: in a gap no likelihood tells.
  bool finite() const;
  /// Back to the state before a series' first measurement.
  void restart();
  /// Loads and stores the working state.
  void load(const State& state);
  void store(State& state) const;

  std::shared_ptr<const Model::Impl> model;
  model::FilterStream<float> filter;
  model::StreamState<float> state;
  std::vector<double> last;       ///< last value of each channel, NaN until there is one
  std::vector<double> y;          ///< M, in the model's units
  std::vector<double> weight;     ///< of the noise, M
  std::vector<double> noise_std;  ///< deviations of weight 1, M, in the user's units
  std::vector<double> u;          ///< inputs that act during the next step, U
  std::vector<double> mean, covariance;
  double log_likelihood = 0;
};

}  // namespace kalmia
