#include "simulate/pendulum.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/runge_kutta.hpp"

namespace kalmia::simulation {

void pendulum_flow(const PendulumConstants& constants, double torque, double time, double max_step,
                   std::array<double, 2>& x) {
  integrate(
      [&](const std::array<double, 2>& s) {
        return std::array<double, 2>{
            s[1], -constants.gravity * std::sin(s[0]) - constants.damping * s[1] + torque};
      },
      time, max_step, x);
}

void Pendulum::start(RandomStream& random, std::span<double> x) {
  x[0] = random.uniform(-1.5, 1.5);
  x[1] = random.normal();
}

void Pendulum::advance(RandomStream& random, std::span<double> x) {
  const double torque = std::sqrt(constants_.intensity / dt_) * random.normal();
  std::array<double, 2> point{x[0], x[1]};
  pendulum_flow(constants_, torque, dt_, kPendulumSubstep, point);
  std::copy(point.begin(), point.end(), x.begin());
}

}  // namespace kalmia::simulation
