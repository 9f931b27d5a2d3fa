#include "simulate/lorenz.hpp"

#include <algorithm>

#include "simulate/runge_kutta.hpp"

namespace kalmia::simulation {
namespace {

// Volumes shrink by exp(-13.7 t), and the way from the starting box to the attractor takes a few
// turns of 0.75 each; 25 leaves no trace of it.
constexpr double kBurnIn = 25;

}  // namespace

void lorenz_flow(double time, double max_step, std::array<double, 3>& x) {
  const double sigma = 10, rho = 28, beta = 8.0 / 3;
  integrate(
      [=](const std::array<double, 3>& s) {
        return std::array<double, 3>{sigma * (s[1] - s[0]), s[0] * (rho - s[2]) - s[1],
                                     s[0] * s[1] - beta * s[2]};
      },
      time, max_step, x);
}

void Lorenz::start(RandomStream& random, std::span<double> x) {
  std::array<double, 3> point{random.uniform(-15, 15), random.uniform(-15, 15),
                              random.uniform(10, 40)};
  lorenz_flow(kBurnIn, kLorenzSubstep, point);
  std::copy(point.begin(), point.end(), x.begin());
}

void Lorenz::advance(RandomStream&, std::span<double> x) {
  std::array<double, 3> point{x[0], x[1], x[2]};
  lorenz_flow(dt_, kLorenzSubstep, point);
  std::copy(point.begin(), point.end(), x.begin());
}

}  // namespace kalmia::simulation
