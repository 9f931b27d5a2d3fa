/// \file
/// Systems with known truth, and ways to spoil data: for trying things out and for tests.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia {

/// What to simulate. A longer simulation begins with the values of a shorter one, and a series does
/// not depend on how many there are.
struct SimulateOptions {
  /// Steps of each series.
  int steps = 1000;
  /// Number of series; one system, with starting points and disturbances of their own.
  int series = 1;
  /// Time between steps. -1: the system's own.
  double dt = -1;
  /// Standard deviation of the measurement noise. -1: the system's own.
  double noise = -1;
  /// States of `random-linear`.
  int states = 4;
  /// Measured components of `random-linear`.
  int measured = 2;
  /// Seed of every random stream.
  std::uint64_t seed = 1;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, SimulateOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("steps", o.steps, "steps of each series");
  visit("series", o.series, "number of series");
  visit("dt", o.dt, "time between steps (default: the system's)");
  visit("noise", o.noise, "standard deviation of the measurement noise (default: the system's)");
  visit("states", o.states, "states of random-linear");
  visit("measured", o.measured, "measured components of random-linear");
  visit("seed", o.seed, "seed of every random stream");
}

/// One system that `simulate` knows.
struct SystemInfo {
  std::string name;
  std::string description;  ///< one line: equations, what is measured, default dt and noise
};

/// All of them, in the order they are listed to users.
const std::vector<SystemInfo>& simulated_systems();

/// Simulates `system`: measurements y, truth x (all states), time t. Throws ConfigError for a name
/// that is not in the list, or options out of range.
Dataset simulate(const std::string& system, const SimulateOptions& options = {});

/// How to spoil measurements.
struct SpoilOptions {
  /// Standard deviation of added Gaussian noise, in the data's units.
  double add_noise = 0;
  /// Share of the measured values that go missing at random.
  double missing = 0;
  /// Mean length of the runs in which they go missing; 1: one by one, without regard to each other
  /// (runs of mean length 1 / (1 - missing); a smaller value than that gives the same).
  double missing_run = 1;
  /// Share of the measured values that become outliers.
  double outliers = 0;
  /// Standard deviation of the outliers' error, in standard deviations of the channel.
  double outlier_size = 3;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, SpoilOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("add_noise", o.add_noise, "standard deviation of added Gaussian noise");
  visit("missing", o.missing, "share of the values that go missing");
  visit("missing_run", o.missing_run, "mean length of the runs in which they go missing");
  visit("outliers", o.outliers, "share of the values that become outliers");
  visit("outlier_size", o.outlier_size, "size of outliers in standard deviations of the channel");
}

/// Spoils the measurements in place. Where the data had no truth, the measurements as they were
/// become the truth (names `true_<name>`). Throws ConfigError for options out of range.
void spoil(Dataset& data, const SpoilOptions& options, std::uint64_t seed);

}  // namespace kalmia
