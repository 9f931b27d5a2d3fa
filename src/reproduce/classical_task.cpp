#include "reproduce/classical_task.hpp"

#include "reproduce/outcome.hpp"

namespace kalmia::reproduction {

MeasurementsView measurements(const Dataset& data) {
  return {data.series[0].y.data(), 1, data.series[0].steps, data.meas_dim()};
}

double mean_square_error(const Array& estimates, std::span<const double> truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = estimates[i] - truth[i];
    sum += error * error;
  }
  return sum / static_cast<double>(truth.size());
}

Task raw_task() {
  Task task;
  task.methods = {{"raw", "the measurements themselves", true, false, true, {}}};
  task.learns = false;
  task.cost = [](int, int test) { return 1e-6 * test; };
  task.run = [](const Work& work) { return std::vector{raw_outcome(work.data->test)}; };
  return task;
}

}  // namespace kalmia::reproduction
