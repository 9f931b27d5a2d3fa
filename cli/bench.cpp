// kalmia bench: how fast this machine is.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "command.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/instruction_set.hpp"
#include "kalmia/model.hpp"
#include "kalmia/simulate.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Repeats `work`, which does `steps` time steps, for at least `seconds`; the best rate counts, as
// other programs can only slow it down.
template <typename Work>
double best_rate(double seconds, std::size_t steps, const Work& work) {
  double best = 0;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point begin = Clock::now();
    work();
    best = std::max(best, double(steps) / seconds_since(begin));
  } while (seconds_since(start) < seconds);
  return best;
}

// Steps of a single series, one call each.
void stream_through(Stream& stream, const Series& series, std::size_t meas_dim) {
  Stream::State state = stream.start();
  for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k)
    stream.step(state, std::span(series.y).subspan(k * meas_dim, meas_dim));
}

}  // namespace

void run_bench(const Arguments& arguments) {
  Parser parser("bench",
                "Measures the speed of this machine in time steps a second on a simulated Lorenz\n"
                "system: training, filtering and smoothing of many series, and streaming of one.",
                "kalmia bench --seconds 0.2 --updates 5");
  CommonOptions common;
  FitOptions options;
  options.train.updates = 60;
  double seconds = 1;
  parser.value("--updates", "updates of the training", options.train.updates);
  parser.value("--hidden", "hidden units of the network", options.model.hidden);
  parser.value("--seconds", "time for each of the other measurements", seconds);
  common.add_to(parser);
  if (!parser.parse(arguments)) return;

  options.train.seed = common.seed;
  options.train.threads = common.threads;
  options.model.prior = "lorenz";
  options.model.effort = "quick";  // networks, whatever else may be better
  options.validate();
  SimulateOptions system;
  system.series = 128;
  system.steps = 256;
  system.seed = common.seed;
  const Dataset data = simulate("lorenz", system);
  const FitResult fitted = fit(data, options);
  const Model& model = fitted.model;
  const std::size_t steps = data.total_steps();
  const double filter_rate =
      best_rate(seconds, steps, [&] { (void)model.filter(data, common.threads); });
  const double smooth_rate =
      best_rate(seconds, steps, [&] { (void)model.smooth(data, common.threads); });
  Stream stream = model.stream();
  const Series& series = data.series.front();
  const double stream_rate = best_rate(seconds, static_cast<std::size_t>(series.steps), [&] {
    stream_through(stream, series, static_cast<std::size_t>(data.meas_dim()));
  });

  const unsigned threads =
      common.threads > 0 ? unsigned(common.threads) : std::thread::hardware_concurrency();
  if (common.json) {
    print_json({{"threads", threads},
                {"instruction_set", instruction_set()},
                {"hidden", options.model.hidden},
                {"training_steps_per_second", fitted.summary.networks.steps_per_second},
                {"filter_steps_per_second", filter_rate},
                {"smooth_steps_per_second", smooth_rate},
                {"stream_steps_per_second", stream_rate}});
    return;
  }
  print(fmt::format("Lorenz system, prior of 3 states, {} hidden units, {} threads, {}\n",
                    options.model.hidden, threads, instruction_set()));
  const auto row = [](const char* what, double rate, const char* how) {
    print(fmt::format("  {:<10}{:>8} steps/s  {}\n", what, short_number(rate), how));
  };
  row("training", fitted.summary.networks.steps_per_second,
      "batches of windows, forward and backward");
  row("filter", filter_rate, "128 series at once");
  row("smooth", smooth_rate, "128 series at once");
  row("stream", stream_rate, "one series, one thread, step by step");
}

}  // namespace kalmia::cli
