// The process noise of a classical filter, tuned on clean data: what the paper's rivals get.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace kalmia::reproduction {

/// The mean of (x[k+1] - f(x[k])) (x[k+1] - f(x[k]))' over a clean trajectory `x` of (steps, N):
/// what is most likely if the states are known. Row-major.
std::vector<double> residual_covariance(
    std::span<const double> x, int N,
    const std::function<void(std::span<const double> x, std::span<double> next)>& f);

/// Mean squared error of the estimates that a filter or smoother with process noise Q makes of the
/// noisy training data; infinite where it breaks down.
using NoiseError = std::function<double(const std::vector<double>& Q)>;

/// The Q (N x N) of least error: from the best of `start`, some multiples of it, and some multiples
/// of the identity, on over all positive definite matrices, Q = C L L' C' with the Cholesky factor
/// C of that one and L lower triangular. Throws NumericalError if none of them works.
std::vector<double> tune_process_noise(const std::vector<double>& start, int N,
                                       const NoiseError& error);

}  // namespace kalmia::reproduction
