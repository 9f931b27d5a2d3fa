#include "reproduce/grid.hpp"

#include <algorithm>

namespace kalmia::reproduction {

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
