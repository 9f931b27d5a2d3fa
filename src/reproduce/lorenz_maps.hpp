// The Lorenz system as classical filters need it: the value of a step and its matrix.
#pragma once

#include <span>

namespace kalmia::reproduction {

/// Time between steps (the paper's).
inline constexpr double kLorenzStep = 0.05;

/// value = F x with F = sum_{n=0}^2 (dt A(x))^n / n!, and F as the matrix of the step, though it is
/// not its derivative.
///
/// Paper: Sec. 8.2 and its appendix. Differs from the paper: the second row of A, see
/// docs/errata.md, item 3.
void lorenz_frozen_map(std::span<const double> x, std::span<double> value,
                       std::span<double> matrix);

/// The flow over a step by Runge and Kutta in `substeps`, and its derivative, carried along by the
/// same rule: d/dt J = (df/dx) J, J = I at the start.
void lorenz_flow_map(int substeps, std::span<const double> x, std::span<double> value,
                     std::span<double> matrix);

}  // namespace kalmia::reproduction
