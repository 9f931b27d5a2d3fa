// The calibration's factors at one step.
#pragma once

#include <span>
#include <vector>

#include "model/distance_factors.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// The channel that each state follows (N): its own; -1: all alike, which take the geometric mean
/// of the channels' factors. Those are all states if what a channel measures is of states of other
/// channels, or of none, or is nonlinear.
std::vector<int> channels_of_states(const model::LearnedModel<float>& model);

/// Factors s_n of the states, from those of channels at their distances. A covariance C of which
/// the part V is the noise of the state's own measurement (calibrated.hpp) becomes
///
///   D (C - V) D + V,   D = diag(s_n)^1/2,
///
/// which stays positive definite. For one factor of all states it is s (C - V) + V.
class StepFactors {
 public:
  /// `factors` must outlive this object.
  StepFactors(const model::LearnedModel<float>& model, const model::DistanceFactors& factors);

  /// Takes the distances of the M channels.
  void set(std::span<const double> distances);
  /// C (N x N) becomes D (C - V) D + V; V is `noise`, empty: 0.
  void scale_states(std::span<const double> noise, std::span<double> covariance) const;
  /// S (M x M) of measurements becomes D (S - V) D + V, with the factors of channels.
  void scale_measured(std::span<const double> noise, std::span<double> covariance) const;

 private:
  const model::DistanceFactors& factors_;
  std::vector<int> channel_;
  bool alike_;                            // no state has a channel
  std::vector<double> state_, measured_;  // s^1/2
};

}  // namespace kalmia::infer
