// What the runner asks of the methods, so that others can join the list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kalmia/reproduce.hpp"
#include "reproduce/trajectories.hpp"

namespace kalmia::reproduction {

/// What a task is given.
struct Work {
  const Trajectories* data = nullptr;
  int n = 0;               ///< steps of the training trajectory that may be used
  std::uint64_t seed = 0;  ///< of whatever is random in training
  int threads = 1;
  /// Asked now and then; false: give up (the result is thrown away).
  std::function<bool()> go_on;
};

/// What a method makes of the test trajectory.
struct Outcome {
  ReproduceRow row;              ///< figures; the runner fills in n, seed and seconds
  std::vector<double> channels;  ///< (steps, M): H x of its estimates, the first kTrajectory steps
};

/// Steps of the test trajectory that are kept for drawing.
inline constexpr int kTrajectory = 400;

/// Something that is learned once, and the methods that come of it: a filter and a smoother over
/// that filter share one fit.
struct Task {
  std::vector<ReproduceMethod> methods;
  /// All that its results depend on besides data and seed, as text: a journal's rows of other
  /// settings are not taken.
  std::string settings;
  bool learns = true;  ///< false: the same whatever n, and run once for each seed
  bool slow = false;   ///< quick runs leave it out, unless it is named
  /// Expected seconds for n training and `test` test steps, one thread; only the order of cells and
  /// the time left follow from it.
  std::function<double(int n, int test)> cost;
  /// One outcome for each of `methods`, in their order. May throw NumericalError.
  std::function<std::vector<Outcome>(const Work&)> run;
};

}  // namespace kalmia::reproduction
