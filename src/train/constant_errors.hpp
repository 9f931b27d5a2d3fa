// How well the data determine the learned constants of equations.
#pragma once

#include <span>
#include <vector>

#include "train/bfgs.hpp"
#include "train/static_likelihood.hpp"

namespace kalmia::train {

/// What the likelihood says of one learned constant around its maximum.
struct ConstantError {
  std::size_t parameter = 0;  ///< which of the map's parameters
  /// In the user's unit; NaN where there is none: at a bound, or not identifiable.
  double standard_error = 0;
  bool at_bound = false;
  bool identifiable = true;
  /// The parameters that the data tell only together with it, itself left out.
  std::vector<std::size_t> together;
};

/// From the curvature of the negative log-likelihood at its maximum `variables`,
///
///   H = values * d^2 objective / d v^2         (central differences of the gradient)
///   S = H_cc - H_cn H_nn^-1 H_nc               c: constants, n: all else that is learned
///
/// the variance of the constants is S^-1, in units of their sizes (BoundedVariable), and that of
/// their values follows by the delta method. Directions of S along which a step of two sizes costs
/// less than half a nat in each tell nothing: constants that take part in them are not
/// identifiable.
///
/// `objective` as that of `likelihood`, per value; `sizes` of its variables. Variables from
/// `held` on (-1: none) were not free.
std::vector<ConstantError> constant_errors(const StaticLikelihood& likelihood,
                                           const Objective& objective,
                                           std::span<const double> variables,
                                           std::span<const double> sizes, int held = -1);

}  // namespace kalmia::train
