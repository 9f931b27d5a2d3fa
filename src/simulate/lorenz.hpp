// The Lorenz system (Lorenz 1963), on its attractor.
#pragma once

#include <array>

#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// Longest substep of the reference integrator. Measured: halving it moves a state by no more than
/// 2e-9 over a step of 0.05; 131,072 steps take 0.3 s.
inline constexpr double kLorenzSubstep = 5e-4;

/// Moves x by `time` along
///
///   dx1/dt = sigma (x2 - x1)   dx2/dt = x1 (rho - x3) - x2   dx3/dt = x1 x2 - beta x3
///
/// with sigma = 10, rho = 28, beta = 8/3.
void lorenz_flow(double time, double max_step, std::array<double, 3>& x);

/// All three states are measured. A series starts at a random point, carried along the flow until
/// it has forgotten all but the attractor.
///
/// Paper: Sec. 8.2, which integrates with a step of 1e-5.
class Lorenz : public SimulatedSystem {
 public:
  explicit Lorenz(const SimulatedSystemOptions& options)
      : SimulatedSystem({"y1", "y2", "y3"}, {0, 1, 2}), dt_(options.dt) {}
  void start(RandomStream& random, std::span<double> x) override;
  void advance(RandomStream& random, std::span<double> x) override;

 private:
  double dt_;
};

}  // namespace kalmia::simulation
