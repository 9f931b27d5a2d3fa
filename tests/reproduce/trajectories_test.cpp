#include "reproduce/trajectories.hpp"

#include <gtest/gtest.h>

namespace kalmia::reproduction {
namespace {

TEST(Trajectories, AreSeparateAndKeyedByTheSeed) {
  const Trajectories one = make_trajectories("lorenz", 1, 50, 50, 50);
  EXPECT_NE(one.training.series[0].y, one.validation.series[0].y);
  EXPECT_NE(one.training.series[0].x, one.test.series[0].x);
  EXPECT_NE(one.validation.series[0].x, one.test.series[0].x);
  EXPECT_EQ(make_trajectories("lorenz", 1, 50, 50, 50).test.series[0].y, one.test.series[0].y);
  EXPECT_NE(make_trajectories("lorenz", 2, 50, 50, 50).test.series[0].y, one.test.series[0].y);
}

TEST(Trajectories, ASmallerSizeIsTheBeginningOfALargerOne) {
  const Dataset longer = make_trajectories("linear", 3, 200, 10, 10).training;
  const Dataset shorter = make_trajectories("linear", 3, 60, 10, 10).training;
  const Dataset part = first_steps(longer, 60);
  EXPECT_EQ(part.series[0].steps, 60);
  EXPECT_EQ(part.series[0].y, shorter.series[0].y);
  EXPECT_EQ(part.series[0].x, shorter.series[0].x);
  EXPECT_EQ(part.series[0].t, shorter.series[0].t);
  EXPECT_EQ(first_steps(longer, 1000).series[0].y, longer.series[0].y);
}

TEST(Trajectories, WithoutTruthHasMeasurementsAlone) {
  const Dataset data = make_trajectories("linear", 1, 20, 10, 10).training;
  const Dataset noisy = without_truth(data);
  EXPECT_TRUE(noisy.x_names.empty());
  EXPECT_TRUE(noisy.series[0].x.empty());
  EXPECT_EQ(noisy.series[0].y, data.series[0].y);
}

}  // namespace
}  // namespace kalmia::reproduction
