#include <gtest/gtest.h>

#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

Experiment small() {
  Experiment experiment;
  experiment.tasks.resize(2);
  experiment.tasks[0].methods = {{"learner", "", true, false, false, {}}};
  experiment.tasks[0].cost = [](int n, int) { return 0.01 * n; };
  experiment.tasks[1].methods = {{"limit", "", false, false, false, {}}};
  experiment.tasks[1].learns = false;
  experiment.tasks[1].cost = [](int, int test) { return 0.1 * test; };
  return experiment;
}

TEST(Grid, HasEverySizeAndSeedTheLongestFirst) {
  ReproduceOptions options;
  options.sizes = {100, 200, 400};
  options.seeds = 2;
  options.seed = 7;
  options.test = 25;
  const std::vector<Cell> cells = make_grid(small(), options);
  ASSERT_EQ(cells.size(), 8u);
  EXPECT_EQ(cells[0].n, 400);
  EXPECT_EQ(cells[0].seed, 7u);
  EXPECT_EQ(cells[1].seed, 8u);
  // What learns nothing has one cell a seed, in its place by cost (2.5).
  EXPECT_EQ(cells[2].task, 1u);
  EXPECT_EQ(cells[2].n, 0);
  EXPECT_EQ(cells[3].task, 1u);
  for (std::size_t i = 1; i < cells.size(); ++i) EXPECT_GE(cells[i - 1].cost, cells[i].cost);
}

TEST(TimeLeft, FollowsFromWhatFinishedCellsTook) {
  TimeLeft time(2);
  EXPECT_DOUBLE_EQ(time.seconds({}, {3.0, 5.0, 4.0}), 6);
  time.finished(10, 20);  // twice as long as expected
  EXPECT_DOUBLE_EQ(time.seconds({}, {3, 3, 2}), 2 * 8 / 2.0);
  // No sooner than the longest is done.
  EXPECT_DOUBLE_EQ(time.seconds({}, {10, 1}), 20);
  // A running cell has part of its time behind it; one that is late may end any moment.
  EXPECT_DOUBLE_EQ(time.seconds({{5, 4}}, {}), 6);
  EXPECT_DOUBLE_EQ(time.seconds({{5, 40}}, {}), 0);
}

}  // namespace
}  // namespace kalmia::reproduction
