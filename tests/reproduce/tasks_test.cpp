#include "reproduce/tasks.hpp"

#include <gtest/gtest.h>

#include "kalmia/simulate.hpp"

namespace kalmia::reproduction {
namespace {

TEST(ClassicalTask, MeasurementsAreTheOneSeriesAsItIs) {
  SimulateOptions options;
  options.steps = 12;
  const Dataset data = simulate("lorenz", options);
  const MeasurementsView view = measurements(data);
  EXPECT_EQ(view.series, 1);
  EXPECT_EQ(view.steps, 12);
  EXPECT_EQ(view.meas_dim, 3);
  EXPECT_EQ(view.data, data.series[0].y.data());
}

TEST(ClassicalTask, TheErrorIsTheMeanSquare) {
  Array estimates(3);
  estimates[0] = 1;
  estimates[1] = 2;
  estimates[2] = 5;
  const double truth[] = {1, 4, 4};
  EXPECT_DOUBLE_EQ(mean_square_error(estimates, truth), (0 + 4 + 1) / 3.0);
}

TEST(ClassicalTask, RawLearnsNothing) {
  const Task task = raw_task();
  ASSERT_EQ(task.methods.size(), 1u);
  EXPECT_EQ(task.methods[0].name, "raw");
  EXPECT_FALSE(task.learns);
  EXPECT_GT(task.cost(0, 2000), task.cost(0, 1000));
}

}  // namespace
}  // namespace kalmia::reproduction
