// The measurement noise R as free variables: R = C C' + floor I, with C lower triangular and its
// diagonal the exponential of a variable.
#pragma once

#include <span>
#include <vector>

#include "model/noise.hpp"

namespace kalmia::train {

class NoiseFactor {
 public:
  /// `floor`: M variances that R never falls below; it keeps the likelihood of repeated values
  /// finite. A noise that is given has no variables.
  NoiseFactor(model::NoiseSpec::Kind kind, std::vector<double> floor);

  /// Number of variables: 0, M or M (M + 1) / 2.
  int size() const { return size_; }
  /// Variables for which R is nearest to the given diagonal.
  std::vector<double> start(std::span<const double> variances) const;
  /// R (M x M).
  std::vector<double> value(std::span<const double> variables) const;
  /// The gradient by the variables from that by R (M x M, full symmetric).
  std::vector<double> gradient(std::span<const double> variables,
                               std::span<const double> d_R) const;

 private:
  std::vector<double> factor(std::span<const double> variables) const;  // C, M x M
  int meas_dim_;
  bool full_;
  int size_;
  std::vector<double> floor_;
};

}  // namespace kalmia::train
