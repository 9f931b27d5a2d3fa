#include "reproduce/trajectories.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "kalmia/simulate.hpp"

namespace kalmia::reproduction {
namespace {

Dataset simulated(const std::string& system, std::uint64_t seed, const char* purpose, int steps) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = RandomStream(seed, purpose).bits();
  Dataset data = simulate(system, options);
  data.source = purpose;
  return data;
}

// Rows of an array that may be absent.
void keep_rows(std::vector<double>& values, std::size_t rows, std::size_t columns) {
  values.resize(std::min(values.size(), rows * columns));
}

}  // namespace

Trajectories make_trajectories(const std::string& system, std::uint64_t seed, int training,
                               int validation, int test) {
  return {simulated(system, seed, "training trajectory", training),
          simulated(system, seed, "validation trajectory", validation),
          simulated(system, seed, "test trajectory", test)};
}

Dataset first_steps(const Dataset& data, int steps) {
  Dataset part = data;
  for (Series& series : part.series) {
    series.steps = std::min(series.steps, steps);
    const auto rows = static_cast<std::size_t>(series.steps);
    keep_rows(series.y, rows, data.y_names.size());
    keep_rows(series.x, rows, data.x_names.size());
    keep_rows(series.u, rows, data.u_names.size());
    keep_rows(series.t, rows, 1);
    keep_rows(series.y_std, rows, data.y_names.size());
  }
  return part;
}

Dataset without_truth(Dataset data) {
  data.x_names.clear();
  for (Series& series : data.series) series.x.clear();
  return data;
}

}  // namespace kalmia::reproduction
