#include "reproduce/audio_runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <tuple>

#include "base/threads.hpp"
#include "reproduce/audio_rows.hpp"
#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

using Clock = std::chrono::steady_clock;

// Between two calls of the progress function, at least.
constexpr double kPause = 0.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A task on a noise.
struct AudioCell {
  std::size_t task = 0;
  std::size_t noise = 0;
  double cost = 0;
  enum { Waiting, Running, Finished } stage = Waiting;
  Clock::time_point begun = {};
};

class AudioRunner {
 public:
  AudioRunner(const std::vector<AudioTask>& tasks, const SpeechMixer& mixer,
              const AudioOptions& options,
              const std::function<bool(const ReproduceProgress&)>& progress,
              const RowsSoFar& rows_so_far)
      : tasks_(tasks),
        mixer_(mixer),
        options_(options),
        progress_(progress),
        rows_so_far_(rows_so_far),
        team_(options.threads),
        prepared_(tasks.size()),
        prepared_seconds_(tasks.size()),
        time_left_(team_.size()) {
    for (std::size_t task = 0; task < tasks.size(); ++task)
      for (std::size_t noise = 0; noise < options.noises.size(); ++noise)
        cells_.push_back({task, noise, tasks[task].cost(options)});
    // The longest first, so that the threads finish together.
    std::stable_sort(cells_.begin(), cells_.end(),
                     [](const AudioCell& a, const AudioCell& b) { return a.cost > b.cost; });
  }

  AudioRun run() {
    report();
    prepare();
    team_.run(static_cast<int>(cells_.size()), [this](int index, int) {
      if (stopped_) return;
      try {
        run_cell(cells_[static_cast<std::size_t>(index)]);
      } catch (const Interrupted&) {
        stopped_ = true;  // a fit that was told to stop
      } catch (...) {
        stopped_ = true;  // what is thrown ends the run: nobody waits for the other cells
        throw;
      }
    });
    return {sorted_rows(), finished_ == static_cast<int>(cells_.size())};
  }

 private:
  // What was found once for all noises.
  void prepare() {
    for (std::size_t task = 0; task < tasks_.size() && !stopped_; ++task) {
      if (!tasks_[task].prepare) continue;
      const Clock::time_point start = Clock::now();
      last_ = tasks_[task].methods[0].name + ", for all noises";
      report();
      try {
        prepared_[task] = tasks_[task].prepare(
            {[this](const std::string& noise) { return mixer_.noisy(noise); }, options_.quick,
             options_.seed, team_.size(), [this] { return go_on(); }, options_.out});
      } catch (const NumericalError& e) {
        failed_.emplace_back(task, e.what());
      }
      prepared_seconds_[task] = seconds_since(start);
    }
  }

  std::vector<AudioOutcome> outcomes_of(const AudioCell& cell, const Mixture& mixture) {
    for (const auto& [task, error] : failed_)
      if (task == cell.task) throw NumericalError(error);
    const AudioTask& task = tasks_[cell.task];
    std::vector<AudioOutcome> outcomes =
        task.run({&mixture.noisy, task.knows ? &mixture.known : nullptr, prepared_[cell.task],
                  options_.quick, options_.seed, 1, [this] { return go_on(); }});
    if (outcomes.size() != task.methods.size())
      throw ConfigError("method " + task.methods[0].name + " gave " +
                        std::to_string(outcomes.size()) + " outcomes, but it must be " +
                        std::to_string(task.methods.size()));
    return outcomes;
  }

  void run_cell(AudioCell& cell) {
    const AudioTask& task = tasks_[cell.task];
    const std::string& noise = options_.noises[cell.noise];
    const Mixture mixture = mixer_.mixture(noise);
    const Clock::time_point start = Clock::now();
    {
      const std::lock_guard lock(mutex_);
      cell.stage = AudioCell::Running;
      cell.begun = start;
    }
    std::vector<AudioRow> rows(task.methods.size());
    double seconds = 0;
    try {
      const std::vector<AudioOutcome> outcomes = outcomes_of(cell, mixture);
      seconds = seconds_since(start);
      for (std::size_t m = 0; m < rows.size() && !stopped_; ++m) {
        rows[m] = audio_row(outcomes[m].estimates, mixture.noisy.test, *mixture.known.test);
        rows[m].held_out = outcomes[m].held_out;
        rows[m].networks_kept = outcomes[m].networks_kept;
      }
    } catch (const NumericalError& e) {
      seconds = seconds_since(start);
      AudioRow failed = audio_row(mixture.noisy.test, mixture.noisy.test, *mixture.known.test);
      const double raw = failed.raw_mse;
      failed = {};
      failed.raw_mse = raw;
      failed.error = e.what();
      std::fill(rows.begin(), rows.end(), failed);
    }
    for (std::size_t m = 0; m < rows.size(); ++m) {
      const AudioMethod& method = task.methods[m];
      rows[m].method = method.name;
      rows[m].noise = noise;
      rows[m].self_supervised = method.self_supervised;
      rows[m].seconds = seconds + prepared_seconds_[cell.task];
      for (const AudioPaperFigure& each : method.paper)
        if (each.noise == noise) rows[m].paper_mse = each.mse;
    }
    const std::lock_guard lock(mutex_);
    // What a task that was told to stop gives is no result.
    if (stopped_) return;
    cell.stage = AudioCell::Finished;
    ++finished_;
    time_left_.finished(cell.cost, seconds);
    last_ = task.methods[0].name + ", " + noise;
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    if (rows_so_far_) rows_so_far_(sorted_rows());
    report();
  }

  std::vector<AudioRow> sorted_rows() const {
    const auto place = [this](const AudioRow& row) {
      std::size_t method = 0;
      for (const AudioTask& task : tasks_)
        for (const AudioMethod& each : task.methods) {
          if (each.name == row.method)
            return std::pair(method,
                             std::find(options_.noises.begin(), options_.noises.end(), row.noise) -
                                 options_.noises.begin());
          ++method;
        }
      return std::pair(method, std::ptrdiff_t{0});
    };
    std::vector<AudioRow> rows = rows_;
    std::sort(rows.begin(), rows.end(),
              [&](const AudioRow& a, const AudioRow& b) { return place(a) < place(b); });
    return rows;
  }

  // Asked by running cells.
  bool go_on() {
    if (stopped_) return false;
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && seconds_since(reported_) >= kPause) report();
    return !stopped_;
  }

  // With the mutex held, or before the team runs.
  void report() {
    reported_ = Clock::now();
    if (!progress_) return;
    std::vector<TimeLeft::Begun> running;
    std::vector<double> waiting;
    double all = 0, done = 0;
    for (const AudioCell& cell : cells_) {
      all += cell.cost;
      if (cell.stage == AudioCell::Waiting) waiting.push_back(cell.cost);
      if (cell.stage == AudioCell::Finished) done += cell.cost;
      if (cell.stage != AudioCell::Running) continue;
      const double elapsed = seconds_since(cell.begun);
      running.push_back({cell.cost, elapsed});
      done += std::min(elapsed, 0.95 * cell.cost);
    }
    ReproduceProgress now;
    now.finished = finished_;
    now.cells = static_cast<int>(cells_.size());
    now.share = all > 0 ? done / all : 1;
    now.seconds = seconds_since(start_);
    now.seconds_left = time_left_.seconds(running, waiting);
    now.last = last_;
    if (!progress_(now)) stopped_ = true;
  }

  const std::vector<AudioTask>& tasks_;
  const SpeechMixer& mixer_;
  const AudioOptions& options_;
  const std::function<bool(const ReproduceProgress&)>& progress_;
  const RowsSoFar& rows_so_far_;
  ThreadTeam team_;
  std::vector<std::any> prepared_;
  std::vector<double> prepared_seconds_;
  std::vector<std::pair<std::size_t, std::string>> failed_;  // preparations
  const Clock::time_point start_ = Clock::now();
  std::atomic<bool> stopped_ = false;

  std::mutex mutex_;  // of all below
  TimeLeft time_left_;
  std::vector<AudioCell> cells_;
  std::vector<AudioRow> rows_;
  Clock::time_point reported_ = start_;
  std::string last_;
  int finished_ = 0;
};

}  // namespace

AudioRun run_audio(const std::vector<AudioTask>& tasks, const SpeechMixer& mixer,
                   const AudioOptions& options,
                   const std::function<bool(const ReproduceProgress&)>& progress,
                   const RowsSoFar& rows_so_far) {
  return AudioRunner(tasks, mixer, options, progress, rows_so_far).run();
}

}  // namespace kalmia::reproduction
