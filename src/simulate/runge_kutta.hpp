// The reference integrator of the simulated differential equations.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace kalmia::simulation {

/// Moves x along dx/dt = f(x) by `time`, by the classical Runge-Kutta method in equal substeps no
/// longer than `max_step`. The error is of order max_step^4. f maps a state to its derivative.
template <std::size_t N, typename Function>
void integrate(const Function& f, double time, double max_step, std::array<double, N>& x) {
  using State = std::array<double, N>;
  const auto substeps = static_cast<long>(std::ceil(time / max_step));
  const double h = time / static_cast<double>(substeps);
  const auto moved = [](const State& from, double by, const State& slope) {
    State to;
    for (std::size_t i = 0; i < N; ++i) to[i] = from[i] + by * slope[i];
    return to;
  };
  for (long s = 0; s < substeps; ++s) {
    const State k1 = f(x);
    const State k2 = f(moved(x, h / 2, k1));
    const State k3 = f(moved(x, h / 2, k2));
    const State k4 = f(moved(x, h, k3));
    for (std::size_t i = 0; i < N; ++i) x[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
  }
}

}  // namespace kalmia::simulation
