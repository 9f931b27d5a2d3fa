// A number with bounds as a variable without.
#pragma once

#include "kalmia/system.hpp"

namespace kalmia::train {

/// value = lower + (upper - lower) / (1 + exp(-v))   two bounds
///       = lower + scale exp(v), upper - scale exp(v)  one
///       = start + scale v                            none
/// where scale is the size of the number at the start, so that a unit of v is a sizeable step.
class BoundedVariable {
 public:
  explicit BoundedVariable(const Parameter& parameter);

  /// Where `value` is the parameter's own.
  double start() const { return start_; }
  double value(double v) const;
  /// d value / d v.
  double slope(double v) const;

 private:
  enum class Kind { Free, Above, Below, Between };
  Kind kind_;
  double lower_, upper_, centre_, scale_, start_;
};

}  // namespace kalmia::train
