// The particle of the linear experiment: two axes, each with position, velocity and acceleration.
#pragma once

#include <memory>
#include <vector>

#include "kalmia/classical.hpp"
#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// Which entry (3, 2) the matrix A of the linear experiment has.
enum class LinearMotion {
  Corrected,  ///< -tau: the paper's reported errors come out with it
  Printed,    ///< -tau c, as printed
};

/// The continuous dynamics dx/dt = A x, 6 x 6, row-major; states p1 v1 a1 p2 v2 a2. Per axis
///
///   A = [0, 1, 0; 0, -c, 1; 0, -tau, 0],   c = 0.06, tau = 0.17
///
/// Paper: Sec. 8.1 and its appendix. Differs from the paper: entry (3, 2) is printed -tau c; see
/// docs/errata.md, item 2.
std::vector<double> linear_motion_matrix(LinearMotion variant = LinearMotion::Corrected);

/// The system, exactly: F = exp(A dt), Q = dt 0.1^2 diag(1/3, 1, 3) per axis, H selects the two
/// positions, R = noise^2 I. x[0] has mean zero; its position has variance 1, its velocity and
/// acceleration the covariance they keep forever (the position is a random walk and has none).
///
/// The paper gives the disturbance of a step of dt = 1 and no differential equation that it would
/// come from; for other steps its covariance is taken in proportion to dt.
LinearModel linear_motion_model(double dt = 1, double noise = 0.5,
                                LinearMotion variant = LinearMotion::Corrected);

/// The system under simulation.
std::unique_ptr<SimulatedSystem> make_linear_motion(const SimulatedSystemOptions& options);

}  // namespace kalmia::simulation
