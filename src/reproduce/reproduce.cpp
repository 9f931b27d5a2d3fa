// kalmia::reproduce: an experiment from its options to its rows.
#include "kalmia/reproduce.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>

#include "base/atomic_file.hpp"
#include "kalmia/option_rules.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/outcome.hpp"
#include "reproduce/result_json.hpp"
#include "reproduce/rows.hpp"
#include "reproduce/runner.hpp"
#include "reproduce/smoother_check.hpp"
#include "simulate/linear_motion.hpp"

namespace kalmia {
namespace {

using namespace reproduction;
namespace fs = std::filesystem;

constexpr const char *kRowsCsv = "rows.csv", *kRowsJson = "rows.json",
                     *kTrajectoriesCsv = "trajectories.csv";
constexpr int kSmallestSize = 64;
constexpr int kCheckedSteps = 64;
constexpr int kLongestTest = 1 << 20;

// A cell that learned nothing stands for all sizes.
std::vector<ReproduceRow> rows_of(const std::vector<FinishedCell>& cells,
                                  const ReproduceOptions& options) {
  std::vector<ReproduceRow> rows;
  for (const FinishedCell& cell : cells)
    for (const Outcome& outcome : cell.outcomes)
      for (const int n : cell.n > 0 ? std::vector<int>{cell.n} : options.sizes) {
        rows.push_back(outcome.row);
        rows.back().n = n;
      }
  return rows;
}

// By method (as listed), size and seed; of methods that were asked for.
void sort_rows(std::vector<ReproduceRow>& rows, const std::vector<ReproduceMethod>& methods) {
  const auto place = [&methods](const ReproduceRow& row) {
    return std::find_if(methods.begin(), methods.end(),
                        [&row](const ReproduceMethod& m) { return m.name == row.method; }) -
           methods.begin();
  };
  std::erase_if(rows, [&](const ReproduceRow& row) {
    return place(row) == static_cast<std::ptrdiff_t>(methods.size());
  });
  std::sort(rows.begin(), rows.end(), [&](const ReproduceRow& a, const ReproduceRow& b) {
    return std::tuple(place(a), a.n, a.seed) < std::tuple(place(b), b.n, b.seed);
  });
}

// Noisy measurements, truth, and each method at the largest size.
void add_trajectories(const Experiment& experiment, const std::vector<FinishedCell>& cells,
                      Reproduction& result) {
  const int largest = result.options.sizes.back();
  const Dataset test = make_trajectories(experiment.system, result.options.seed, 1, 1,
                                         std::min(result.options.test, kTrajectory))
                           .test;
  const std::size_t M = test.y_names.size(), N = test.x_names.size();
  result.trajectory_n = largest;
  result.trajectory_channels = test.y_names;
  ReproduceTrajectory truth{"truth", {}};
  for (std::size_t k = 0; k < static_cast<std::size_t>(test.series[0].steps); ++k)
    for (std::size_t m = 0; m < M; ++m)
      truth.values.push_back(test.series[0].x[k * N + truth_column(test, m)]);
  result.trajectories.push_back({"noisy", test.series[0].y});
  result.trajectories.push_back(std::move(truth));
  for (const ReproduceMethod& method : result.methods) {
    if (method.name == "raw") continue;
    for (const FinishedCell& cell : cells) {
      if (cell.seed != result.options.seed || (cell.n != largest && cell.n != 0)) continue;
      for (const Outcome& outcome : cell.outcomes)
        if (outcome.row.method == method.name && !outcome.channels.empty())
          result.trajectories.push_back({method.name, outcome.channels});
    }
  }
}

std::unique_ptr<Journal> open_journal(const ReproduceOptions& options) {
  if (options.out.empty()) return nullptr;
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error)
    throw IoError(options.out + ": cannot be made (" + error.message() +
                  "); give another folder with --out");
  if (options.fresh)
    for (const char* name : {kRowsCsv, kRowsJson, kTrajectoriesCsv})
      fs::remove(fs::path(options.out) / name, error);
  const std::string path = (fs::path(options.out) / "journal.jsonl").string();
  return std::make_unique<Journal>(path, journal_kind(options), options.fresh);
}

void write_files(const Reproduction& result) {
  if (result.options.out.empty()) return;
  const auto write = [&result](const char* name, const std::string& content) {
    write_file_atomically((fs::path(result.options.out) / name).string(), content);
  };
  write(kRowsCsv, result.to_csv());
  write(kRowsJson, result.to_json() + "\n");
  write(kTrajectoriesCsv, trajectories_csv(result.trajectories, result.trajectory_channels));
}

}  // namespace

ReproduceOptions ReproduceOptions::resolved() const {
  ReproduceOptions full = *this;
  const Experiment whole = make_experiment(experiment);
  if (full.sizes.empty())
    full.sizes = quick ? std::vector<int>{128, 512, 2048}
                       : std::vector<int>{128, 512, 2048, 8192, 32768, kLongestTraining};
  if (full.seeds == 0) full.seeds = quick ? 1 : whole.seeds;
  if (quick && methods.empty())
    for (const Task& task : whole.tasks)
      for (const ReproduceMethod& method : task.methods)
        if (!task.slow) full.methods.push_back(method.name);
  if (full.validation == 0) full.validation = quick ? 2048 : 16384;
  if (full.test == 0) full.test = quick ? 8192 : 32768;
  std::sort(full.sizes.begin(), full.sizes.end());
  full.sizes.erase(std::unique(full.sizes.begin(), full.sizes.end()), full.sizes.end());
  std::string wrong;
  const auto require = [&wrong](bool holds, const std::string& name, long long value,
                                const std::string& rule) {
    if (!holds) wrong += "\n  " + name + " = " + std::to_string(value) + ", but it must be " + rule;
  };
  for (const int n : full.sizes)
    require(n >= kSmallestSize && n <= kLongestTraining, "sizes", n,
            "in " + std::to_string(kSmallestSize) + ".." + std::to_string(kLongestTraining));
  require(full.seeds >= 1 && full.seeds <= 100, "seeds", full.seeds, "in 1..100");
  const std::string lengths = "in 64.." + std::to_string(kLongestTest);
  require(full.validation >= 64 && full.validation <= kLongestTest, "validation", full.validation,
          lengths);
  require(full.test >= 64 && full.test <= kLongestTest, "test", full.test, lengths);
  require(kThreadsRange.holds(threads), "threads", threads, kThreadsRange.text());
  if (!wrong.empty()) throw ConfigError("reproduce: invalid options:" + wrong);
  (void)with_methods(whole, methods);
  return full;
}

std::vector<ReproduceMethod> reproduce_methods(const std::string& experiment) {
  return methods_of(make_experiment(experiment));
}

Reproduction reproduce(const ReproduceOptions& given,
                       const std::function<bool(const ReproduceProgress&)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  Reproduction result;
  result.started = utc_now();
  result.options = given.resolved();
  const ReproduceOptions& options = result.options;
  const Experiment experiment = with_methods(make_experiment(options.experiment), options.methods);
  for (const ReproduceMethod& method : methods_of(experiment))
    if (options.methods.empty() || std::find(options.methods.begin(), options.methods.end(),
                                             method.name) != options.methods.end())
      result.methods.push_back(method);
  const std::unique_ptr<Journal> journal = open_journal(options);
  const RunResult run =
      run_grid(experiment, make_grid(experiment, options), options, journal.get(), progress);
  result.complete = run.complete;
  result.resumed = run.resumed;
  result.rows = rows_of(run.cells, options);
  sort_rows(result.rows, result.methods);
  result.summary = summarise(result.rows);
  add_trajectories(experiment, run.cells, result);
  if (options.experiment == "linear") {
    const LinearModel model = simulation::linear_motion_model();
    const int steps = std::min(options.test, kCheckedSteps);
    const Dataset test = make_trajectories("linear", options.seed, 1, 1, steps).test;
    result.smoother_check = check_linearized_smoother(model, test.series[0].y.data(), steps);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_files(result);
  return result;
}

std::string Reproduction::to_text() const { return result_text(*this); }
std::string Reproduction::to_json() const { return result_json(*this).dump(2); }
std::string Reproduction::to_csv() const { return rows_csv(rows); }

}  // namespace kalmia
