#include "reproduce/experiment.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/suggest.hpp"

namespace kalmia::reproduction {
namespace {

// Tasks from outside, by experiment.
struct Joined {
  std::mutex mutex;
  std::map<std::string, std::vector<Task>> tasks;
};

Joined& joined() {
  static Joined all;
  return all;
}

// Without those from outside.
Experiment experiment_alone(const std::string& name) {
  static const std::string kNames[] = {"linear", "lorenz"};
  if (name == "linear") return {name, "linear", 5, linear_tasks()};
  if (name == "lorenz") return {name, "lorenz", 3, lorenz_tasks()};
  throw ConfigError("unknown experiment \"" + name + "\"" + did_you_mean(name, kNames) +
                    " (there are linear and lorenz)");
}

Experiment with_joined(Experiment experiment) {
  const std::lock_guard lock(joined().mutex);
  for (const Task& task : joined().tasks[experiment.name]) experiment.tasks.push_back(task);
  return experiment;
}

}  // namespace

void join_experiment(const std::string& name, Task task) {
  const std::lock_guard lock(joined().mutex);
  Experiment whole = experiment_alone(name);
  std::vector<Task>& others = joined().tasks[name];
  whole.tasks.insert(whole.tasks.end(), others.begin(), others.end());
  for (const ReproduceMethod& known : methods_of(whole))
    for (const ReproduceMethod& method : task.methods)
      if (method.name == known.name)
        throw ConfigError("experiment " + name + " has a method " + method.name +
                          " already; give the new one another name");
  others.push_back(std::move(task));
}

Experiment make_experiment(const std::string& name) { return with_joined(experiment_alone(name)); }

std::vector<ReproduceMethod> methods_of(const Experiment& experiment) {
  std::vector<ReproduceMethod> methods;
  for (const Task& task : experiment.tasks)
    for (const ReproduceMethod& method : task.methods) {
      methods.push_back(method);
      methods.back().settings = task.settings;
    }
  return methods;
}

Experiment with_methods(Experiment experiment, const std::vector<std::string>& names) {
  if (names.empty()) return experiment;
  std::vector<std::string> known;
  for (const ReproduceMethod& method : methods_of(experiment)) known.push_back(method.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw ConfigError("methods: " + experiment.name + " has no method \"" + name + "\"" +
                        did_you_mean(name, known) + " (--list shows all)");
  std::erase_if(experiment.tasks, [&](const Task& task) {
    return std::none_of(task.methods.begin(), task.methods.end(), [&](const ReproduceMethod& m) {
      return std::find(names.begin(), names.end(), m.name) != names.end();
    });
  });
  return experiment;
}

std::vector<Cell> make_grid(const Experiment& experiment, const ReproduceOptions& options) {
  std::vector<Cell> cells;
  for (std::size_t task = 0; task < experiment.tasks.size(); ++task) {
    const Task& each = experiment.tasks[task];
    const std::vector<int> sizes = each.learns ? options.sizes : std::vector<int>{0};
    for (const int n : sizes)
      for (int s = 0; s < options.seeds; ++s)
        cells.push_back(
            {task, n, options.seed + static_cast<std::uint64_t>(s), each.cost(n, options.test)});
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Cell& a, const Cell& b) { return a.cost > b.cost; });
  return cells;
}

void TimeLeft::finished(double cost, double seconds) {
  cost_ += cost;
  seconds_ += seconds;
}

double TimeLeft::seconds(const std::vector<Begun>& running,
                         const std::vector<double>& waiting) const {
  const double rate = cost_ > 0 ? seconds_ / cost_ : 1;
  double sum = 0, longest = 0;
  const auto add = [&](double left) {
    sum += left;
    longest = std::max(longest, left);
  };
  for (const Begun& each : running) add(std::max(0.0, rate * each.cost - each.elapsed));
  for (const double cost : waiting) add(rate * cost);
  return std::max(longest, sum / threads_);
}

}  // namespace kalmia::reproduction
