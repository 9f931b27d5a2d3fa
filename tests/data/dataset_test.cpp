#include <gtest/gtest.h>

#include "kalmia/data.hpp"
#include "support/dataset_equal.hpp"

namespace kalmia {
namespace {

TEST(Dataset, CountsAllSteps) {
  EXPECT_EQ(example_dataset().total_steps(), 5U);
  EXPECT_EQ(Dataset().total_steps(), 0U);
}

TEST(Dataset, StepIsTheMedian) {
  Dataset data;
  data.time_kind = TimeKind::Number;
  data.series.resize(3);
  data.series[0].t = {0, 1, 3, 100};  // 1, 2, 97
  data.series[1].t = {5, 8, 10};      // 3, 2
  data.series[2].t = {7};
  EXPECT_EQ(data.step_size(), 2);
  data.series[1].t = {5, 9};  // 1, 2, 4, 97: the lower of the two in the middle
  EXPECT_EQ(data.step_size(), 2);
}

TEST(Dataset, StepIsOneWithoutTime) {
  Dataset data;
  EXPECT_EQ(data.step_size(), 1);
  data.time_kind = TimeKind::Number;
  data.series.resize(1);
  data.series[0].t = {7};
  EXPECT_EQ(data.step_size(), 1);
}

}  // namespace
}  // namespace kalmia
