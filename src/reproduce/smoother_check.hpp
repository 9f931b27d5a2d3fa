// The assumption of the linearized smoother, examined where it can be.
#pragma once

#include "kalmia/classical.hpp"
#include "kalmia/reproduce.hpp"

namespace kalmia::reproduction {

/// Smooths `steps` of measurements `y` (steps x M) by the backward pass, which assumes that given
/// x[k] the later measurements say nothing more about x[k-1], and compares with the posterior of
/// all states together, which assumes nothing:
///
///   p(x[0:K] | y[0:K]) ~ N(x[0]; x0, P0) prod N(x[k]; F x[k-1] + e, Q) prod N(y[k]; H x[k], R)
///
/// solved as one dense system. For a linear Gaussian system both must be the same.
///
/// Paper: Sec. 6.
ReproduceSmootherCheck check_linearized_smoother(const LinearModel& model, const double* y,
                                                 int steps);

}  // namespace kalmia::reproduction
