// Quasi-Newton minimisation of a smooth function of a few dozen variables: the static stage.
//
// Written here because nothing packaged for this platform both needs no further library and takes a
// function that may be infinite (a covariance that breaks down) in its stride.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace kalmia::train {

struct BfgsOptions {
  int max_iterations = 150;
  /// A sizeable step of each variable: the search moves the variables over these, and its gradient
  /// is by them. Empty: all are 1.
  std::vector<double> sizes;
  /// The search ends when no entry of the gradient is larger.
  double gradient_tolerance = 1e-6;
  /// It also ends when three steps in a row lower the value by less than this share of it.
  double value_tolerance = 1e-8;
};

struct BfgsResult {
  double value = 0;
  int iterations = 0;
  int evaluations = 0;
  bool converged = false;
  bool interrupted = false;
};

/// Sets the gradient and returns the value; a value that is not finite stands for infinity.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// What a search has learned of the curvature: the inverse Hessian, by rows; empty: nothing.
struct BfgsMemory {
  std::vector<double> inverse;
};

/// BFGS with a line search for the weak Wolfe conditions by bisection (Lewis & Overton 2013).
/// Leaves the best point in `x`. `go_on` (may be empty) is asked after every iteration. Goes on
/// from `memory` where it is given and fits the number of variables, and leaves it there.
/// Throws NumericalError if the function is not finite at the start.
BfgsResult minimise_bfgs(const Objective& objective, std::vector<double>& x,
                         const BfgsOptions& options = {},
                         const std::function<bool(int iteration, double value)>& go_on = {},
                         BfgsMemory* memory = nullptr);

}  // namespace kalmia::train
