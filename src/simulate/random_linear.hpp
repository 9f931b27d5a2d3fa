// A linear Gaussian system drawn at random.
#pragma once

#include <cstdint>
#include <memory>

#include "kalmia/classical.hpp"
#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// Spectral radius of F: a disturbance is felt for about 20 steps.
inline constexpr double kRandomLinearRadius = 0.95;

/// The system that belongs to a seed. F and a root of Q have independent normal entries; F is then
/// scaled to its spectral radius, and the states to a stationary variance of 1 each. H selects the
/// first `measured` states: any other H of full rank is this one in other coordinates, and the
/// coordinates are random already. R = noise^2 I; x[0] has the stationary distribution.
LinearModel random_linear_model(int states, int measured, double noise, std::uint64_t seed);

/// The system under simulation. Its steps have no length: dt sets the time axis alone.
std::unique_ptr<SimulatedSystem> make_random_linear(const SimulatedSystemOptions& options);

}  // namespace kalmia::simulation
