// What every simulated system is to the loop that runs it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace kalmia::simulation {

/// Options with the system's defaults filled in, checked.
struct SimulatedSystemOptions {
  double dt = 1;
  double noise = 0;
  int states = 0;
  int measured = 0;
  std::uint64_t seed = 1;
};

/// A system that moves its state on by one step at a time. The system (matrices, frequencies) is
/// the same for all series of a seed; a series' stream gives its start and its disturbances. Each
/// step draws the same count of numbers, so that a longer simulation begins with the shorter one.
class SimulatedSystem {
 public:
  SimulatedSystem(std::vector<std::string> state_names, std::vector<int> measured)
      : state_names_(std::move(state_names)), measured_(std::move(measured)) {}
  virtual ~SimulatedSystem() = default;

  /// A measured state has the name of its channel (y1, y2, ...), a derivative of it that name with
  /// _rate or _acceleration, as in the models that are fitted; so the two can be compared.
  const std::vector<std::string>& state_names() const { return state_names_; }
  /// The states that are measured, in the order of the channels.
  const std::vector<int>& measured() const { return measured_; }

  /// Sets x to a new series' x[0].
  virtual void start(RandomStream& random, std::span<double> x) = 0;
  /// x[k-1] becomes x[k].
  virtual void advance(RandomStream& random, std::span<double> x) = 0;

 private:
  std::vector<std::string> state_names_;
  std::vector<int> measured_;
};

}  // namespace kalmia::simulation
