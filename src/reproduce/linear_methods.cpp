#include <algorithm>
#include <limits>

#include "kalmia/classical.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/outcome.hpp"
#include "reproduce/supervised_noise.hpp"
#include "reproduce/tasks.hpp"
#include "simulate/linear_motion.hpp"

namespace kalmia::reproduction {
namespace {

constexpr int kPerAxis = 3;
// Clean steps that the covariance is tuned on, at most.
constexpr int kLinearTuning = 16384;

Outcome filtered(const LinearModel& model, const Dataset& test) {
  return outcome_of(
      classical_pass(kalman_filter(model, measurements(test)), test, model.H, model.R), test,
      Scored::Filter);
}

// F = I + dt A: the Taylor series of exp(dt A) to its first order, dt = 1.
LinearModel first_order_model() {
  LinearModel model = simulation::linear_motion_model();
  model.F = simulation::linear_motion_matrix();
  const auto N = static_cast<std::size_t>(model.state_dim);
  for (std::size_t i = 0; i < N; ++i) model.F[i * N + i] += 1;
  return model;
}

// The same covariance for both directions, N x N.
std::vector<double> both_axes(const std::vector<double>& axis) {
  constexpr std::size_t B = kPerAxis, N = 2 * B;
  std::vector<double> whole(N * N, 0.0);
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t i = 0; i < B; ++i)
      for (std::size_t j = 0; j < B; ++j) whole[(d * B + i) * N + d * B + j] = axis[i * B + j];
  return whole;
}

// The mean of both directions' blocks.
std::vector<double> one_axis(const std::vector<double>& whole) {
  constexpr std::size_t B = kPerAxis, N = 2 * B;
  std::vector<double> axis(B * B, 0.0);
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t i = 0; i < B; ++i)
      for (std::size_t j = 0; j < B; ++j)
        axis[i * B + j] += 0.5 * whole[(d * B + i) * N + d * B + j];
  return axis;
}

// Process noise of least state error on the clean training trajectory.
LinearModel supervised_model(const Dataset& clean) {
  LinearModel model = first_order_model();
  const auto N = static_cast<std::size_t>(model.state_dim);
  const std::vector<double>& x = clean.series[0].x;
  const auto step = [&](std::span<const double> from, std::span<double> next) {
    for (std::size_t i = 0; i < N; ++i) {
      next[i] = 0;
      for (std::size_t j = 0; j < N; ++j) next[i] += model.F[i * N + j] * from[j];
    }
  };
  const std::vector<double> start = one_axis(residual_covariance(x, model.state_dim, step));
  FilterOptions keep;
  keep.predicted = keep.covariances = keep.innovations = false;
  FilterResult result;
  const auto error = [&](const std::vector<double>& axis) {
    LinearModel tried = model;
    tried.Q = both_axes(axis);
    try {
      kalman_filter(tried, measurements(clean), keep, result);
    } catch (const NumericalError&) {
      return std::numeric_limits<double>::infinity();
    }
    return mean_square_error(result.filtered.mean, x);
  };
  model.Q = both_axes(tune_process_noise(start, kPerAxis, error));
  return model;
}

double test_seconds(int, int test) { return 2e-6 * test; }

Task first_order() {
  Task task;
  task.methods = {{"kalman-first-order",
                   "Kalman filter, first-order map, covariance tuned on clean data", false, false,
                   true, 0.241}};
  task.settings = "tuned on " + std::to_string(kLinearTuning) + " steps";
  task.cost = [](int n, int test) { return 0.1 + 3e-5 * std::min(n, kLinearTuning) + 4e-6 * test; };
  task.run = [](const Work& work) {
    const Dataset clean = first_steps(work.data->training, std::min(work.n, kLinearTuning));
    return std::vector{filtered(supervised_model(clean), work.data->test)};
  };
  return task;
}

Task optimal() {
  Task task;
  task.methods = {
      {"kalman-optimal", "Kalman filter with the true parameters", false, false, true, 0.135}};
  task.learns = false;
  task.cost = test_seconds;
  task.run = [](const Work& work) {
    return std::vector{filtered(simulation::linear_motion_model(), work.data->test)};
  };
  return task;
}

// The paper's prior knowledge: the first-order map and the noise.
FitOptions linear_expert() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.calibrate = false;
  options.model.prior = "linear-motion";
  options.model.noise = "0.5";
  return options;
}

// No knowledge of the system. Its likelihood sees positions alone: of the other states it can say
// no more than their mean.
Task recurrent() {
  FitOptions options = linear_expert();
  options.model.prior = "constant-position";
  options.model.filter = "recurrent";
  return fitted_task(options,
                     {{{"recurrent-filter", "networks give the positions directly; other states: 0",
                        true, false, true, 0.685},
                       "",
                       0}},
                     1.3, 1.2e-4);
}

Task recursive() {
  return fitted_task(
      linear_expert(),
      {{{"recursive-filter", "first-order map and networks", true, false, true, 0.161}, "", 0}},
      3.5, 2.2e-4);
}

Task static_stage() {
  FitOptions options = linear_expert();
  options.model.hidden = 0;
  return fitted_task(options,
                     {{{"static-filter",
                        "first-order map, learned departure, no networks",
                        true,
                        false,
                        false,
                        {}},
                       "",
                       0}},
                     1.5, 9e-5);
}

Task linear_flow() {
  FitOptions options = linear_expert();
  options.model.integration.order = 12;
  options.model.departure = 0;
  options.model.hidden = 0;
  return fitted_task(
      options,
      {{{"flow-filter", "the exact flow of A, learned noise", true, false, false, {}}, "", 0}}, 1.5,
      1.7e-4);
}

}  // namespace

std::vector<Task> linear_tasks() {
  return {raw_task(),  first_order(),  optimal(),    recurrent(),
          recursive(), static_stage(), linear_flow()};
}

}  // namespace kalmia::reproduction
