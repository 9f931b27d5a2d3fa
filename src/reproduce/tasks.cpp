#include "reproduce/tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "reproduce/outcome.hpp"
#include "study/truth.hpp"

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

namespace {

FitResult fit_noisy(const FitOptions& options, const Work& work) {
  FitOptions mine = options;
  mine.train.seed = work.seed;
  mine.train.threads = work.threads;
  return fit(without_truth(first_steps(work.data->training, work.n)),
             without_truth(work.data->validation), mine, {},
             [&work](const FitProgress&) { return !work.go_on || work.go_on(); });
}

std::vector<Outcome> run_outputs(const FitOptions& options,
                                 const std::vector<FittedOutput>& outputs, const Work& work) {
  const FitResult fitted = fit_noisy(options, work);
  const Model& model = fitted.model;
  const Dataset& test = work.data->test;
  const study::Truth truth = study::truth_by_name(test, model.state_names(), model.measured_names(),
                                                  study::measure_of(model));
  // Every emission of these experiments is linear: H is the same at all states.
  const auto states = static_cast<std::size_t>(model.state_dim());
  const std::vector<double> H = model.emission(std::vector<double>(states));
  const Dataset noisy = without_truth(work.data->test);
  // The filter is part of every pass; one pass for each smoother.
  std::map<std::pair<std::string, int>, Pass> passes;
  const auto pass_of = [&](const FittedOutput& output) -> const Pass& {
    std::pair<std::string, int> key{output.smoothing, output.iterations};
    if (output.smoothing.empty()) key.first = "linearized";
    const auto found = passes.find(key);
    if (found != passes.end()) return found->second;
    SmoothOptions smoothing;
    smoothing.method = key.first;
    smoothing.iterations = key.second;
    return passes[key] = {model.analyse(noisy, work.threads, smoothing), H, model.noise()};
  };
  std::vector<Outcome> outcomes;
  for (const FittedOutput& output : outputs) {
    const bool trained = output.smoothing == "auto";
    Outcome outcome = outcome_of(pass_of(output), test, truth,
                                 output.smoothing.empty() ? Scored::Filter
                                 : trained                ? Scored::SmootherAlone
                                                          : Scored::Smoother);
    // The model may know of fewer states than there are.
    if (!truth.states || states < test.x_names.size())
      outcome.row.state_mse = state_mse_with_zeros(test, outcome.row.position_mse.value());
    outcome.row.held_out = trained && fitted.summary.has_smoother()
                               ? fitted.summary.smoother->held_out
                               : fitted.summary.best_held_out;
    if (trained && fitted.summary.has_smoother())
      outcome.row.leak = model.leak(noisy, work.threads);
    if (options.model.hidden > 0)
      outcome.row.networks_kept =
          trained ? fitted.summary.has_smoother() : fitted.summary.networks.kept;
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace

std::string settings_text(const FitOptions& options) {
  std::string text;
  const auto add = [&text](const char* name, const auto& value, const char*, const auto&...) {
    if (std::string(name) == "seed" || std::string(name) == "threads") return;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  visit_fields(options.model, add);
  visit_fields(options.train, add);
  const System& system = options.model.system;
  for (const Parameter& each : system.parameters)
    text += fmt::format(" {}={}{}", each.name, each.value, each.learn ? " learn" : "");
  for (const Equation& each : system.ode) text += fmt::format(" d{}={}", each.name, each.text);
  for (const Equation& each : system.measure)
    text += fmt::format(" measure {}={}", each.name, each.text);
  for (const std::string& each : system.states) text += fmt::format(" state {}", each);
  if (!system.empty())
    text += fmt::format(" {} substeps={}", system.integration.flow, system.integration.substeps);
  return text;
}

Task fitted_task(const FitOptions& options, std::vector<FittedOutput> outputs, double start_seconds,
                 double seconds_per_step) {
  Task task;
  for (const FittedOutput& output : outputs) task.methods.push_back(output.method);
  task.settings = settings_text(options);
  for (const FittedOutput& output : outputs)
    task.settings += fmt::format("; {} {}", output.smoothing, output.iterations);
  task.cost = [start_seconds, seconds_per_step](int n, int) {
    return start_seconds + seconds_per_step * n;
  };
  task.run = [options, outputs = std::move(outputs)](const Work& work) {
    return run_outputs(options, outputs, work);
  };
  return task;
}

}  // namespace kalmia::reproduction
