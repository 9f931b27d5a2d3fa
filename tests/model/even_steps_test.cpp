#include "model/even_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

// One channel with truth, inputs and deviations, at these times; y is the number of the step.
Dataset data_at(const std::vector<double>& t) {
  Dataset data;
  data.source = "log.csv";
  data.time_kind = TimeKind::Number;
  data.y_names = {"y"};
  data.x_names = {"true_y"};
  data.u_names = {"push", "wind"};
  data.std_names = {"std"};
  Series& series = data.series.emplace_back();
  series.key = "a";
  series.steps = static_cast<int>(t.size());
  series.t = t;
  for (int k = 0; k < series.steps; ++k) {
    series.y.push_back(k);
    series.x.push_back(10 + k);
    series.y_std.push_back(0.5);
    series.u.insert(series.u.end(), {100.0 + k, 200.0 + k});
  }
  return data;
}

TEST(EvenSteps, PartsOfAStep) {
  EXPECT_EQ(parts_of_step(0.2, 100), 1);
  EXPECT_EQ(parts_of_step(1.5, 100), 1);
  EXPECT_EQ(parts_of_step(1.6, 100), 2);
  EXPECT_EQ(parts_of_step(7, 100), 7);
  EXPECT_EQ(parts_of_step(7.4, 100), 7);
  EXPECT_EQ(parts_of_step(7.6, 100), 8);
  EXPECT_EQ(parts_of_step(1000, 100), 101);
  EXPECT_EQ(parts_of_step(1000, 0), 1);
}

TEST(EvenSteps, ALongStepBecomesEmptyOnesAndTheRest) {
  const Dataset data = data_at({0, 2, 8, 10, 15.5});
  const EvenSteps even(data, 2, kMostEmptySteps);
  ASSERT_TRUE(even.changed());
  const Series& series = even.data().series[0];
  EXPECT_EQ(series.key, "a");
  EXPECT_EQ(series.t, (std::vector<double>{0, 2, 4, 6, 8, 10, 12, 14, 15.5}));
  ASSERT_EQ(series.steps, 9);
  const std::vector<double> y = {0, 1, NAN, NAN, 2, 3, NAN, NAN, 4};
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_EQ(std::isnan(y[k]), std::isnan(series.y[k])) << k;
    EXPECT_EQ(std::isnan(y[k]), std::isnan(series.x[k])) << k;
    if (!std::isnan(y[k])) {
      EXPECT_EQ(series.y[k], y[k]);
      EXPECT_EQ(series.x[k], 10 + y[k]);
      EXPECT_EQ(series.y_std[k], 0.5);
    }
  }
  // Inputs act from their row on.
  EXPECT_EQ(series.u, (std::vector<double>{100, 200, 101, 201, 101, 201, 101, 201, 102, 202, 103,
                                           203, 103, 203, 103, 203, 104, 204}));
  EXPECT_EQ(even.own_rows(0, series.t, 1), data.series[0].t);
  EXPECT_EQ(even.own_rows(0, series.u, 2), data.series[0].u);
  EXPECT_TRUE(even.own_rows(0, {}, 3).empty());
}

TEST(EvenSteps, DataWithoutLongStepsAreLeftAlone) {
  const Dataset data = data_at({0, 2, 4.9, 5, 7});
  const EvenSteps even(data, 2, kMostEmptySteps), never(data_at({0, 2, 800}), 2, 0);
  EXPECT_FALSE(even.changed());
  EXPECT_EQ(&even.data(), &data);
  EXPECT_FALSE(never.changed());
  EXPECT_EQ(even.own_rows(0, {1, 2, 3}, 1), (std::vector<double>{1, 2, 3}));
}

// Of a gap that is stepped over only its beginning is cut up.
TEST(EvenSteps, AtMostSoManyEmptySteps) {
  const Dataset data = data_at({0, 2, 802});
  const EvenSteps even(data, 2, 3);
  EXPECT_EQ(even.data().series[0].t, (std::vector<double>{0, 2, 4, 6, 8, 802}));
  EXPECT_EQ(most_empty_steps(true, false), 0);
  EXPECT_EQ(most_empty_steps(false, false), kMostEmptySteps);
  EXPECT_LT(most_empty_steps(true, true), 100);
  EXPECT_GT(most_empty_steps(true, true), 50);
}

TEST(EvenSteps, AStepTooLongToCutUpIsRefused) {
  const Dataset data = data_at({0, 1, 2, 2e7});
  EXPECT_EQ(message_of<DataError>([&] { EvenSteps(data, 1, kMostEmptySteps); }),
            "log.csv, series \"a\", step 4: the time since the step before is 19999998, more "
            "than 1000000 times the usual 1; is it in the right unit? Cut the data into two series "
            "there, or take a prior that can step over any time (constant-velocity and the like, "
            "without networks)");
  EXPECT_EQ(EvenSteps(data, 1, 64).data().series[0].steps, 4 + 64);
}

// Those who read the data say what is wrong with them.
TEST(EvenSteps, ArraysThatDoNotFitAreLeftAlone) {
  Dataset data = data_at({0, 1, 50});
  data.series[0].y.pop_back();
  EXPECT_FALSE(EvenSteps(data, 1, kMostEmptySteps).changed());
}

}  // namespace
}  // namespace kalmia::model
