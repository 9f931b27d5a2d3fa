// A damped pendulum that is pushed about at random.
#pragma once

#include <array>

#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// Constants of
///
///   d angle/dt = rate     d rate/dt = -gravity sin(angle) - damping rate + torque
struct PendulumConstants {
  double gravity = 9.81;   ///< acceleration of gravity over length
  double damping = 0.1;    ///< per unit of time
  double intensity = 0.5;  ///< of the torque: its variance is intensity / dt, held over each step
};

/// Longest substep. Measured: halving it moves the angle by less than 1e-11 over a step of 0.05.
inline constexpr double kPendulumSubstep = 2e-3;

/// Moves (angle, rate) by `time` under a constant torque.
void pendulum_flow(const PendulumConstants& constants, double torque, double time, double max_step,
                   std::array<double, 2>& x);

/// The angle is measured. The torque is a new Gaussian number each step, held over the step: then
/// the state at the next step is an exact function of the last one and the torque, and in the limit
/// of short steps the torque is white noise of the given intensity. In the limit of small swings
/// the rate has the variance intensity / (2 damping).
class Pendulum : public SimulatedSystem {
 public:
  explicit Pendulum(const SimulatedSystemOptions& options, const PendulumConstants& constants = {})
      : SimulatedSystem({"y1", "y1_rate"}, {0}), dt_(options.dt), constants_(constants) {}
  void start(RandomStream& random, std::span<double> x) override;
  void advance(RandomStream& random, std::span<double> x) override;

 private:
  double dt_;
  PendulumConstants constants_;
};

}  // namespace kalmia::simulation
