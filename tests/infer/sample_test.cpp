#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/model.hpp"

namespace kalmia {
namespace {

using test::alone;
using test::expect_same_bits;
using test::motion_data;
using test::public_model;

TEST(Sample, IsInTheUsersUnits) {
  constexpr int kCount = 4000;
  const Dataset data = motion_data(2, {5, 12}, 92);
  const Model model = public_model(test::static_case(2));
  const Estimates samples = model.sample(data, kCount, 7, 2), smoothed = model.smooth(data, 1);
  ASSERT_EQ(samples.series.size(), 2u * kCount);
  EXPECT_EQ(samples.log_likelihood, smoothed.log_likelihood);
  const std::size_t size = 12 * 4;
  std::vector<double> mean(size), lag(size);
  for (std::size_t c = 0; c < kCount; ++c) {
    const StateEstimates& path = samples.series[kCount + c];
    ASSERT_EQ(path.mean.size(), size);
    ASSERT_TRUE(path.covariance.empty());
    for (std::size_t i = 0; i < size; ++i) mean[i] += path.mean[i] / kCount;
  }
  const StateEstimates& truth = smoothed.series[1];
  std::vector<double> variance(size);
  for (std::size_t i = 0; i < size; ++i) variance[i] = truth.covariance[4 * i + i % 4];
  for (std::size_t i = 0; i < size; ++i)
    EXPECT_NEAR(mean[i], truth.mean[i], 4 * std::sqrt(variance[i] / kCount)) << i;
  // Between neighbouring steps too the states vary together.
  const test::Matrix joint = test::joint_covariance(
      test::static_system(test::motion_description(2)), test::vectors(data.series[1].y, 2));
  for (std::size_t c = 0; c < kCount; ++c) {
    const std::vector<double>& path = samples.series[kCount + c].mean;
    for (std::size_t i = 4; i < size; ++i)
      lag[i] += (path[i] - mean[i]) * (path[i - 4] - mean[i - 4]) / kCount;
  }
  for (std::size_t i = 4; i < size; ++i) {
    const auto j = static_cast<Eigen::Index>(i);
    const double error =
        std::sqrt((joint(j, j) * joint(j - 4, j - 4) + joint(j, j - 4) * joint(j, j - 4)) / kCount);
    EXPECT_NEAR(lag[i], joint(j, j - 4), 4 * error) << i;
  }
}

TEST(Sample, FollowsFromTheSeed) {
  const Dataset data = motion_data(1, {5, 3}, 93);
  const Model model = public_model(test::network_case(1, 94));
  const Estimates a = model.sample(data, 3, 7, 1);
  expect_same_bits(a, model.sample(data, 3, 7, 1));
  const Estimates other = model.sample(data, 3, 8, 1);
  for (std::size_t s = 0; s < 6; ++s) EXPECT_NE(a.series[s].mean[0], other.series[s].mean[0]);
  // More of them begin with the same ones.
  const Estimates more = model.sample(data, 5, 7, 1);
  EXPECT_EQ(a.series[2].mean, more.series[2].mean);
  EXPECT_EQ(a.series[3].mean, more.series[5].mean);
  EXPECT_EQ(a.series[0].key, "r1#1");
  EXPECT_EQ(a.series[5].key, "r2#3");
  EXPECT_EQ(a.series[5].t, data.series[1].t);
  EXPECT_NE(a.series[0].mean, a.series[1].mean);
  // Series do not share their random numbers.
  Dataset twins = data;
  twins.series = {data.series[0], data.series[0]};
  const Estimates apart = model.sample(twins, 1, 7, 1);
  EXPECT_NE(apart.series[0].mean, apart.series[1].mean);
  Dataset keyless = alone(data, 0);
  keyless.key_name = keyless.series[0].key = "";
  const Estimates named = model.sample(keyless, 2, 7, 1);
  EXPECT_EQ(named.key_name, "sample");
  EXPECT_EQ(named.series[1].key, "2");
}

}  // namespace
}  // namespace kalmia
