// The Van der Pol oscillator on its limit cycle.
#pragma once

#include <array>

#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// The strength of the nonlinearity of the system `van-der-pol`.
inline constexpr double kVanDerPolMu = 1.5;

/// Longest substep. Measured: halving it moves a state by less than 1e-10 over a step of 0.1.
inline constexpr double kVanDerPolSubstep = 2e-3;

/// Moves x by `time` along dx1/dt = x2, dx2/dt = mu (1 - x1^2) x2 - x1.
void van_der_pol_flow(double mu, double time, double max_step, std::array<double, 2>& x);

/// The position is measured. A series starts anywhere on the limit cycle.
class VanDerPol : public SimulatedSystem {
 public:
  explicit VanDerPol(const SimulatedSystemOptions& options)
      : SimulatedSystem({"y1", "y1_rate"}, {0}), dt_(options.dt) {}
  void start(RandomStream& random, std::span<double> x) override;
  void advance(RandomStream& random, std::span<double> x) override;

 private:
  double dt_;
};

}  // namespace kalmia::simulation
