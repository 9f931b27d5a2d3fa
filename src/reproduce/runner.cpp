#include "reproduce/runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "base/threads.hpp"

namespace kalmia::reproduction {
namespace {

using Clock = std::chrono::steady_clock;

// Between two calls of the progress function, at least.
constexpr double kPause = 0.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// As many as were asked for, or as the machine has, but no more than there are cells.
int threads_for(int wanted, std::size_t cells) {
  const int most = wanted > 0 ? wanted : hardware_threads();
  return std::clamp(most, 1, static_cast<int>(std::max<std::size_t>(cells, 1)));
}

// The trajectories of each seed, made when first asked for.
class TrajectoryStore {
 public:
  TrajectoryStore(const Experiment& experiment, const ReproduceOptions& options)
      : system_(experiment.system),
        options_(options),
        longest_(*std::max_element(options.sizes.begin(), options.sizes.end())) {}

  std::shared_ptr<const Trajectories> of(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Trajectories>& found = made_[seed];
    if (!found)
      found = std::make_shared<Trajectories>(
          make_trajectories(system_, seed, longest_, options_.validation, options_.test));
    return found;
  }

 private:
  std::string system_;
  const ReproduceOptions& options_;
  int longest_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const Trajectories>> made_;
};

class Runner {
 public:
  Runner(const Experiment& experiment, const std::vector<Cell>& cells,
         const ReproduceOptions& options, Journal* journal,
         const std::function<bool(const ReproduceProgress&)>& progress)
      : experiment_(experiment),
        options_(options),
        journal_(journal),
        progress_(progress),
        store_(experiment, options),
        team_(threads_for(options.threads, cells.size())),
        time_left_(team_.size()),
        total_(static_cast<int>(cells.size())) {
    for (const Cell& cell : cells) {
      cost_ += cell.cost;
      if (!take_from_journal(cell)) waiting_.push_back(cell);
    }
    state_.resize(waiting_.size());
  }

  RunResult run() {
    report();
    team_.run(static_cast<int>(waiting_.size()), [this](int index, int) {
      if (stopped_) return;
      try {
        run_cell(static_cast<std::size_t>(index));
      } catch (const Interrupted&) {
        stopped_ = true;  // a fit that was told to stop
      } catch (...) {
        stopped_ = true;  // what is thrown ends the run: nobody waits for the other cells
        throw;
      }
    });
    result_.complete = static_cast<int>(result_.cells.size()) == total_;
    return std::move(result_);
  }

 private:
  enum class Stage { Waiting, Running, Finished };
  struct CellState {
    Stage stage = Stage::Waiting;
    Clock::time_point begun;
  };

  const Task& task_of(const Cell& cell) const { return experiment_.tasks[cell.task]; }

  bool take_from_journal(const Cell& cell) {
    if (!journal_) return false;
    const Task& task = task_of(cell);
    for (const FinishedCell& each : journal_->finished())
      if (each.task == task.methods[0].name && each.settings == task.settings && each.n == cell.n &&
          each.seed == cell.seed && each.outcomes.size() == task.methods.size()) {
        result_.cells.push_back(each);
        ++result_.resumed;
        done_cost_ += cell.cost;
        return true;
      }
    return false;
  }

  void run_cell(std::size_t index) {
    const Cell& cell = waiting_[index];
    const Task& task = task_of(cell);
    const std::shared_ptr<const Trajectories> data = store_.of(cell.seed);
    const Clock::time_point start = Clock::now();
    {
      const std::lock_guard lock(mutex_);
      state_[index] = {Stage::Running, start};
    }
    FinishedCell finished{task.methods[0].name, task.settings, cell.n, cell.seed, {}};
    bool whole = true;
    try {
      finished.outcomes = task.run({data.get(), cell.n, cell.seed, 1, [this] { return go_on(); }});
      if (finished.outcomes.size() != task.methods.size())
        throw ConfigError("method " + finished.task + " gave " +
                          std::to_string(finished.outcomes.size()) + " outcomes, but it must be " +
                          std::to_string(task.methods.size()));
    } catch (const NumericalError& e) {
      whole = false;
      finished.outcomes.resize(task.methods.size());
      for (Outcome& each : finished.outcomes) each.row.error = e.what();
    }
    const double seconds = seconds_since(start);
    for (std::size_t m = 0; m < task.methods.size(); ++m) {
      Outcome& outcome = finished.outcomes[m];
      outcome.row.method = task.methods[m].name;
      outcome.row.n = cell.n;
      outcome.row.seed = cell.seed;
      outcome.row.seconds = seconds;
    }
    const std::lock_guard lock(mutex_);
    // What a fit that was told to stop gives is no result.
    if (stopped_) return;
    if (whole && journal_) journal_->add(finished);
    state_[index].stage = Stage::Finished;
    time_left_.finished(cell.cost, seconds);
    done_cost_ += cell.cost;
    last_ = finished.task + (cell.n > 0 ? " " + std::to_string(cell.n) : "") + ", seed " +
            std::to_string(cell.seed);
    result_.cells.push_back(std::move(finished));
    report();
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
    double begun_cost = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const double cost = waiting_[i].cost;
      if (state_[i].stage == Stage::Waiting) waiting.push_back(cost);
      if (state_[i].stage != Stage::Running) continue;
      const double elapsed = seconds_since(state_[i].begun);
      running.push_back({cost, elapsed});
      begun_cost += std::min(elapsed, 0.95 * cost);
    }
    ReproduceProgress now;
    now.finished = static_cast<int>(result_.cells.size());
    now.cells = total_;
    now.resumed = result_.resumed;
    now.share = cost_ > 0 ? (done_cost_ + begun_cost) / cost_ : 1;
    now.seconds = seconds_since(start_);
    now.seconds_left = time_left_.seconds(running, waiting);
    now.last = last_;
    if (!progress_(now)) stopped_ = true;
  }

  const Experiment& experiment_;
  const ReproduceOptions& options_;
  Journal* journal_;
  const std::function<bool(const ReproduceProgress&)>& progress_;
  TrajectoryStore store_;
  ThreadTeam team_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<bool> stopped_ = false;

  std::mutex mutex_;  // of all below
  TimeLeft time_left_;
  std::vector<Cell> waiting_;
  std::vector<CellState> state_;
  RunResult result_;
  Clock::time_point reported_ = start_;
  std::string last_;
  double cost_ = 0, done_cost_ = 0;
  int total_ = 0;
};

}  // namespace

RunResult run_grid(const Experiment& experiment, const std::vector<Cell>& cells,
                   const ReproduceOptions& options, Journal* journal,
                   const std::function<bool(const ReproduceProgress&)>& progress) {
  return Runner(experiment, cells, options, journal, progress).run();
}

}  // namespace kalmia::reproduction
