// The numbers that the static stage moves freely: parameters within their bounds, and the
// measurement noise R = C C' + floor, with C lower triangular and its diagonal the exponential of a
// variable.
#pragma once

#include <span>
#include <vector>

#include "kalmia/system.hpp"
#include "model/noise.hpp"

namespace kalmia::train {

/// A parameter as a free variable v:
///
/// value = lower + (upper - lower) / (1 + exp(-v))   two bounds
///       = lower + scale exp(v), upper - scale exp(v)  one
///       = start + scale v                            none
/// where scale is the size of the number at the start, so that a unit of v is a sizeable step.
class BoundedVariable {
 public:
  explicit BoundedVariable(const Parameter& parameter)
      : BoundedVariable(parameter, parameter.value) {}
  /// The same, of which a search begins at `at`.
  BoundedVariable(const Parameter& parameter, double at);

  /// Where `value` is what a search begins at.
  double start() const { return start_; }
  double value(double v) const;
  /// d value / d v.
  double slope(double v) const;

 private:
  enum class Kind { Free, Above, Below, Between };
  Kind kind_;
  double lower_, upper_, centre_, scale_, start_;
};

/// Whether a value is at a bound of the parameter, but for a small share of their distance, or of
/// the number where there is one bound.
bool is_near_bound(const Parameter& parameter, double value);

/// R = C C' + floor as free variables.
class NoiseFactor {
 public:
  /// `floor`: M x M, positive semi-definite; R never falls below it. Of a noise that is not full
  /// only its diagonal counts. A noise that is given has no variables.
  NoiseFactor(model::NoiseSpec::Kind kind, int meas_dim, std::vector<double> floor);

  /// Number of variables: 0, M or M (M + 1) / 2.
  int size() const { return size_; }
  /// Variables for which R (M x M) comes out again. Where R is not clearly above the floor, C C'
  /// keeps a tenth of the floor's diagonal, and as much of the correlation as that allows.
  std::vector<double> start(std::span<const double> R) const;
  /// A sizeable step of each variable there: of logarithms 1, of the others the deviation of their
  /// row.
  std::vector<double> sizes(std::span<const double> variables) const;
  /// R (M x M).
  std::vector<double> value(std::span<const double> variables) const;
  /// Whether channels have noise of their own.
  bool independent() const { return !full_; }
  /// Moves variables that hold R at its floor to where R is one and a half times that. Returns
  /// whether there were any.
  bool leave_floor(std::span<double> variables) const;
  /// The gradient by the variables from that by R (M x M, full symmetric).
  std::vector<double> gradient(std::span<const double> variables,
                               std::span<const double> d_R) const;

 private:
  std::vector<double> factor(std::span<const double> variables) const;  // C, M x M
  int meas_dim_;
  bool full_;
  int size_;
  std::vector<double> floor_;  // M x M
};

}  // namespace kalmia::train
