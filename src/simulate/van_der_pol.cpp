#include "simulate/van_der_pol.hpp"

#include <algorithm>

#include "simulate/runge_kutta.hpp"

namespace kalmia::simulation {

void van_der_pol_flow(double mu, double time, double max_step, std::array<double, 2>& x) {
  integrate(
      [mu](const std::array<double, 2>& s) {
        return std::array<double, 2>{s[1], mu * (1 - s[0] * s[0]) * s[1] - s[0]};
      },
      time, max_step, x);
}

void VanDerPol::start(RandomStream& random, std::span<double> x) {
  // A turn takes about 7; one turn brings a nearby point closer to the cycle by a factor of more
  // than 1000. The random part of the time makes all phases equally likely.
  std::array<double, 2> point{2, 0};
  van_der_pol_flow(kVanDerPolMu, random.uniform(40, 110), kVanDerPolSubstep, point);
  std::copy(point.begin(), point.end(), x.begin());
}

void VanDerPol::advance(RandomStream&, std::span<double> x) {
  std::array<double, 2> point{x[0], x[1]};
  van_der_pol_flow(kVanDerPolMu, dt_, kVanDerPolSubstep, point);
  std::copy(point.begin(), point.end(), x.begin());
}

}  // namespace kalmia::simulation
