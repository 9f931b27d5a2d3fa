// The experiments by name.
#pragma once

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

}  // namespace kalmia::reproduction
