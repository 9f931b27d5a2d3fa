#include "model/features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kalmia::model {
namespace {

const double kUnmeasured = std::nan("");

// Two channels of two states each; the first shows its level.
FeatureSpec two_channel_features() {
  FeatureSpec spec;
  spec.mean = {10, 0};
  spec.spread = {4, 1};
  spec.step = {2, 0.5};
  spec.use_level = {1, 0};
  spec.measured_state = {0, 3};
  spec.channel_of_state = {0, 0, 1, 1};
  return spec;
}

struct Step {
  std::vector<double> features, centre;
};

Step step(const FeatureSpec& spec, const std::vector<double>& y, std::vector<double>& last) {
  Step result{std::vector<double>(static_cast<std::size_t>(spec.input_dim()), 77),
              std::vector<double>(static_cast<std::size_t>(spec.state_dim()), 77)};
  spec.step_to(y.data(), last.data(), result.features.data(), result.centre.data());
  return result;
}

void expect_numbers(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << i << ": " << found[i];
    else
      EXPECT_EQ(found[i], expected[i]) << i;
  }
}

TEST(FeatureSpec, SizesFollowFromTheChannels) {
  const FeatureSpec spec = two_channel_features();
  EXPECT_EQ(spec.meas_dim(), 2);
  EXPECT_EQ(spec.state_dim(), 4);
  EXPECT_EQ(spec.input_dim(), 5);  // increment, level, measured; increment, measured
}

TEST(FeatureSpec, ValuesByHand) {
  const FeatureSpec spec = two_channel_features();
  std::vector<double> last = {kUnmeasured, kUnmeasured};
  // The first value has nothing to differ from, but it has a level.
  const Step first = step(spec, {12, 3}, last);
  expect_numbers(first.features, {0, 0.5, 1, 0, 1});
  expect_numbers(first.centre, {12, 0, 0, 3});
  expect_numbers(last, {12, 3});

  const Step second = step(spec, {9, 4}, last);
  expect_numbers(second.features, {-1.5, -0.25, 1, 2, 1});
  expect_numbers(second.centre, {9, 0, 0, 4});
  expect_numbers(last, {9, 4});
}

TEST(FeatureSpec, AMissingValueHoldsTheLevelAndTakesTheResidualAway) {
  const FeatureSpec spec = two_channel_features();
  std::vector<double> last = {12, 3};
  const Step gap = step(spec, {kUnmeasured, 3.5}, last);
  expect_numbers(gap.features, {0, 0.5, 0, 1, 1});
  expect_numbers(gap.centre, {kUnmeasured, kUnmeasured, 0, 3.5});
  expect_numbers(last, {12, 3.5});
  // After the gap the increment is that since the value before it.
  const Step after = step(spec, {16, kUnmeasured}, last);
  expect_numbers(after.features, {2, 1.5, 1, 0, 0});
  expect_numbers(after.centre, {16, 0, kUnmeasured, kUnmeasured});
  expect_numbers(last, {16, 3.5});
}

TEST(FeatureSpec, BeforeAnyValueAllIsZero) {
  const FeatureSpec spec = two_channel_features();
  std::vector<double> last = {kUnmeasured, kUnmeasured};
  const Step nothing = step(spec, {kUnmeasured, kUnmeasured}, last);
  expect_numbers(nothing.features, {0, 0, 0, 0, 0});
  expect_numbers(nothing.centre, {kUnmeasured, kUnmeasured, kUnmeasured, kUnmeasured});
  expect_numbers(last, {kUnmeasured, kUnmeasured});
}

TEST(FeatureSpec, OutliersAreCutOffButNotForgotten) {
  const FeatureSpec spec = two_channel_features();
  std::vector<double> last = {10, 0};
  const Step high = step(spec, {1e12, -1e12}, last);
  expect_numbers(high.features, {10, 10, 1, -10, 1});
  expect_numbers(high.centre, {1e12, 0, 0, -1e12});
  expect_numbers(last, {1e12, -1e12});
  const Step back = step(spec, {10, 0}, last);
  expect_numbers(back.features, {-10, 0, 1, 10, 1});
}

TEST(FeatureSpec, AStateIsTrustedAsItsChannel) {
  FeatureSpec spec = two_channel_features();
  spec.channel_of_state[2] = -1;
  const double channels[] = {0.25, 0.75};
  std::vector<double> trust(8, 77);
  spec.trust_to(channels, trust.data(), 2);
  EXPECT_EQ(trust, (std::vector<double>{0.25, 77, 0.25, 77, 0.5, 77, 0.75, 77}));
}

TEST(FeatureSpec, StrideLeavesOtherLanesAlone) {
  const FeatureSpec spec = two_channel_features();
  constexpr int kStride = 3;
  std::vector<float> features(5 * kStride, 77);
  std::vector<double> centre(4 * kStride, 77), last = {11, 1};
  const double y[] = {9, kUnmeasured};
  spec.step_to(y, last.data(), features.data() + 1, centre.data() + 1, kStride);
  const float expected_features[] = {-1, -0.25, 1, 0, 0};
  for (std::size_t i = 0; i < features.size(); ++i)
    EXPECT_EQ(features[i], i % kStride == 1 ? expected_features[i / kStride] : 77) << i;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    if (i % kStride != 1)
      EXPECT_EQ(centre[i], 77) << i;
    else if (i / kStride < 2)
      EXPECT_EQ(centre[i], i / kStride == 0 ? 9 : 0) << i;
    else
      EXPECT_TRUE(std::isnan(centre[i])) << i;
  }
}

TEST(FeatureSpec, AStateOfNoChannelIsLeftAloneOnlyWhereAllAreMissing) {
  FeatureSpec spec = two_channel_features();
  spec.measured_state = {-1, 3};
  spec.channel_of_state = {-1, 0, -1, 1};
  std::vector<double> last = {12, 3};
  expect_numbers(step(spec, {kUnmeasured, 4}, last).centre, {0, kUnmeasured, 0, 4});
  expect_numbers(step(spec, {5, kUnmeasured}, last).centre, {0, 0, 0, kUnmeasured});
  expect_numbers(step(spec, {kUnmeasured, kUnmeasured}, last).centre,
                 {kUnmeasured, kUnmeasured, kUnmeasured, kUnmeasured});
}

TEST(FeatureSpec, WhatDrivesTheStepStandsBehindTheChannels) {
  FeatureSpec spec = two_channel_features();
  spec.use_dt = true;
  spec.u_mean = {1, -2};
  spec.u_spread = {2, 0.5};
  EXPECT_EQ(spec.channel_features(), 5);
  EXPECT_EQ(spec.control_dim(), 2);
  EXPECT_EQ(spec.input_dim(), 8);
  constexpr int kStride = 3;
  std::vector<double> features(8 * kStride, 77);
  const double u[] = {5, -2.25};
  spec.drive_to(0.25, u, features.data() + 1, kStride);
  const double expected[] = {77, 77, 77, 77, 77, std::log(0.25), 2, -0.5};
  for (std::size_t i = 0; i < features.size(); ++i)
    EXPECT_EQ(features[i], i % kStride == 1 ? expected[i / kStride] : 77) << i;
  // Cut off as all are.
  const double far[] = {1e9, -1e9};
  std::vector<float> limited(8);
  spec.drive_to(1e9, far, limited.data());
  EXPECT_EQ(limited[5], 10);
  EXPECT_EQ(limited[6], 10);
  EXPECT_EQ(limited[7], -10);
  // Without lengths the inputs come first.
  spec.use_dt = false;
  EXPECT_EQ(spec.input_dim(), 7);
  spec.drive_to(4, u, features.data(), 1);
  EXPECT_EQ(features[5], 2);
  EXPECT_EQ(features[6], -0.5);
}

}  // namespace
}  // namespace kalmia::model
