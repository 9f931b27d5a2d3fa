#include "reproduce/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "support/scratch_folder.hpp"

namespace kalmia::reproduction {
namespace {

// Two methods of one task that learns, and one that learns nothing. Counts how often they run.
struct RunnerCase {
  std::atomic<int> learned = 0, limits = 0;
  Experiment experiment{"linear", "linear", 1, {}};
  ReproduceOptions options;
  std::function<void(const Work&)> on_run = [](const Work&) {};

  RunnerCase() {
    Task learner;
    learner.methods = {{"filter", "", true, false, false, {}},
                       {"smoother", "", true, true, false, {}}};
    learner.settings = "rate=1";
    learner.cost = [](int n, int) { return n; };
    learner.run = [this](const Work& work) {
      ++learned;
      on_run(work);
      std::vector<Outcome> outcomes(2);
      outcomes[0].row.state_mse = work.n + 0.5 * static_cast<double>(work.seed);
      outcomes[1].row.state_mse = work.data->training.series[0].y[0];
      outcomes[0].channels = {1, 2};
      return outcomes;
    };
    Task limit;
    limit.methods = {{"limit", "", false, false, false, {}}};
    limit.learns = false;
    limit.cost = [](int, int) { return 1.0; };
    limit.run = [this](const Work&) {
      ++limits;
      return std::vector<Outcome>(1);
    };
    experiment.tasks = {learner, limit};
    options.sizes = {64, 128};
    options.seeds = 2;
    options.validation = options.test = 64;
    options.threads = 1;
  }

  RunResult run(Journal* journal = nullptr,
                const std::function<bool(const ReproduceProgress&)>& progress = {}) {
    return run_grid(experiment, make_grid(experiment, options), options, journal, progress);
  }
};

std::vector<double> run_figures(RunResult result) {
  std::sort(result.cells.begin(), result.cells.end(),
            [](const FinishedCell& a, const FinishedCell& b) {
              return std::tuple(a.task, a.n, a.seed) < std::tuple(b.task, b.n, b.seed);
            });
  std::vector<double> all;
  for (const FinishedCell& cell : result.cells)
    for (const Outcome& outcome : cell.outcomes) all.push_back(outcome.row.state_mse.value_or(-1));
  return all;
}

TEST(Runner, RunsEveryCellOnce) {
  RunnerCase c;
  const RunResult result = c.run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.cells.size(), 6u);
  EXPECT_EQ(c.learned, 4);
  EXPECT_EQ(c.limits, 2);
  // The longest first.
  EXPECT_EQ(result.cells[0].n, 128);
  for (const FinishedCell& cell : result.cells) {
    for (const Outcome& outcome : cell.outcomes) EXPECT_EQ(outcome.row.seed, cell.seed);
    if (cell.task == "filter") {
      EXPECT_FALSE(cell.outcomes[0].channels.empty());
      EXPECT_EQ(cell.outcomes[1].row.method, "smoother");
    }
  }
}

// An error that is not a method's own ends the run at once.
TEST(Runner, WhatIsThrownEndsTheRun) {
  RunnerCase c;
  c.on_run = [](const Work&) { throw IoError("the disk is full"); };
  EXPECT_THROW(c.run(), IoError);
  EXPECT_EQ(c.learned, 1);
}

TEST(Runner, ATaskGivesAnOutcomeForEachOfItsMethods) {
  RunnerCase c;
  c.experiment.tasks[0].run = [](const Work&) { return std::vector<Outcome>(1); };
  EXPECT_THROW(c.run(), ConfigError);
}

TEST(Runner, ThreadsDoNotMatter) {
  RunnerCase one, two;
  two.options.threads = 3;
  EXPECT_EQ(run_figures(one.run()), run_figures(two.run()));
}

TEST(Runner, FinishedCellsAreNotRepeated) {
  const ScratchFolder folder;
  const std::string path = folder.file("journal.jsonl");
  const Json kind = {{"journal", 1}};
  RunnerCase whole, first, second;
  const std::vector<double> expected = run_figures(whole.run());
  {
    // Stopped after two cells.
    Journal journal(path, kind);
    const RunResult part =
        first.run(&journal, [](const ReproduceProgress& now) { return now.finished < 2; });
    EXPECT_FALSE(part.complete);
    EXPECT_EQ(part.cells.size(), 2u);
  }
  {
    Journal journal(path, kind);
    const RunResult rest = second.run(&journal);
    EXPECT_TRUE(rest.complete);
    EXPECT_EQ(rest.resumed, 2);
    EXPECT_EQ(second.learned + second.limits, 4);
    EXPECT_EQ(run_figures(rest), expected);
  }
  Journal journal(path, kind);
  RunnerCase third;
  EXPECT_EQ(third.run(&journal).resumed, 6);
  EXPECT_EQ(third.learned + third.limits, 0);
}

TEST(Runner, CellsOfOtherSettingsAreRunAgain) {
  const ScratchFolder folder;
  const std::string path = folder.file("journal.jsonl");
  {
    Journal journal(path, {{"journal", 1}});
    RunnerCase c;
    c.run(&journal);
  }
  Journal journal(path, {{"journal", 1}});
  RunnerCase c;
  c.experiment.tasks[0].settings = "rate=2";
  EXPECT_EQ(c.run(&journal).resumed, 2);
  EXPECT_EQ(c.learned, 4);
}

TEST(Runner, AMethodThatBreaksDownLeavesItsErrorAndIsTriedAgain) {
  const ScratchFolder folder;
  const std::string path = folder.file("journal.jsonl");
  {
    Journal journal(path, {{"journal", 1}});
    RunnerCase c;
    c.on_run = [](const Work& work) {
      if (work.n == 64 && work.seed == 2) throw NumericalError("step 3: broke down");
    };
    const RunResult result = c.run(&journal);
    EXPECT_TRUE(result.complete);
    int errors = 0;
    for (const FinishedCell& cell : result.cells)
      for (const Outcome& outcome : cell.outcomes)
        errors += outcome.row.error == "step 3: broke down";
    EXPECT_EQ(errors, 2);
  }
  Journal journal(path, {{"journal", 1}});
  RunnerCase c;
  EXPECT_EQ(c.run(&journal).resumed, 5);
}

TEST(Runner, WhatWasToldToStopIsNoResult) {
  RunnerCase c;
  bool stop = false;
  c.on_run = [&stop](const Work& work) {
    stop = true;
    while (work.go_on()) {
    }
  };
  const RunResult result = c.run(nullptr, [&stop](const ReproduceProgress&) { return !stop; });
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.cells.empty());
  EXPECT_EQ(c.learned, 1);
}

TEST(Runner, ProgressComesToItsEnd) {
  RunnerCase c;
  std::vector<ReproduceProgress> seen;
  c.run(nullptr, [&seen](const ReproduceProgress& now) {
    seen.push_back(now);
    return true;
  });
  EXPECT_EQ(seen.front().finished, 0);
  EXPECT_EQ(seen.back().finished, 6);
  EXPECT_EQ(seen.back().cells, 6);
  EXPECT_NEAR(seen.back().share, 1, 1e-12);
  EXPECT_EQ(seen.back().seconds_left, 0);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].share, seen[i - 1].share);
}

}  // namespace
}  // namespace kalmia::reproduction
