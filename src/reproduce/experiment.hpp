// The experiments by name, and the cells of one: what is to be run, in which order, and how long it
// may take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproduce/method.hpp"

namespace kalmia::reproduction {

/// A system and the tasks on it.
struct Experiment {
  std::string name;
  std::string system;  ///< as `simulate` calls it
  int seeds = 1;       ///< usual number
  std::vector<Task> tasks;
};

/// `linear` or `lorenz`. Throws ConfigError for other names.
Experiment make_experiment(const std::string& name);

/// Adds a task to all experiments of that name that are made from now on: the way in for methods
/// that the library does not link with. From any thread. Throws ConfigError for an unknown
/// experiment or the name of a method that there is already.
void join_experiment(const std::string& name, Task task);

/// The methods of its tasks, in order.
std::vector<ReproduceMethod> methods_of(const Experiment& experiment);

/// The same with only the tasks that give one of the methods; all if none is named. Throws
/// ConfigError for a name that there is not.
Experiment with_methods(Experiment experiment, const std::vector<std::string>& names);

/// A task at a size with a seed. A task that learns nothing has one cell for each seed, with n = 0.
struct Cell {
  std::size_t task = 0;  ///< of Experiment::tasks
  int n = 0;
  std::uint64_t seed = 0;
  double cost = 0;  ///< expected seconds
};

/// All cells of the options (resolved), the longest first, so that the threads finish together.
std::vector<Cell> make_grid(const Experiment& experiment, const ReproduceOptions& options);

/// Expected time until the last cell is done, from what the finished ones took compared with what
/// was expected of them; as expected before any has finished.
class TimeLeft {
 public:
  /// `threads` cells run side by side.
  explicit TimeLeft(int threads) : threads_(threads) {}

  void finished(double cost, double seconds);
  /// `running`: cells that have begun, `waiting`: cells that have not.
  struct Begun {
    double cost = 0, elapsed = 0;
  };
  double seconds(const std::vector<Begun>& running, const std::vector<double>& waiting) const;

 private:
  int threads_;
  double cost_ = 0, seconds_ = 0;
};

/// Raw, Kalman filters, and the models that learn. Paper: Sec. 8.1.
std::vector<Task> linear_tasks();

/// Raw, extended Kalman smoothers, the models that learn, and the floor. Paper: Sec. 8.2.
std::vector<Task> lorenz_tasks();

}  // namespace kalmia::reproduction
