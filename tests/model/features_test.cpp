#include "model/features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kalmia::model {
namespace {

const double kMissing = std::nan("");

// Two channels of two states each; the first shows its level.
FeatureSpec two_channels() {
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

void expect_same(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << i << ": " << found[i];
    else
      EXPECT_EQ(found[i], expected[i]) << i;
  }
}

TEST(FeatureSpec, SizesFollowFromTheChannels) {
  const FeatureSpec spec = two_channels();
  EXPECT_EQ(spec.meas_dim(), 2);
  EXPECT_EQ(spec.state_dim(), 4);
  EXPECT_EQ(spec.input_dim(), 5);  // increment, level, measured; increment, measured
}

TEST(FeatureSpec, ValuesByHand) {
  const FeatureSpec spec = two_channels();
  std::vector<double> last = {kMissing, kMissing};
  // The first value has nothing to differ from, but it has a level.
  const Step first = step(spec, {12, 3}, last);
  expect_same(first.features, {0, 0.5, 1, 0, 1});
  expect_same(first.centre, {12, 0, 0, 3});
  expect_same(last, {12, 3});

  const Step second = step(spec, {9, 4}, last);
  expect_same(second.features, {-1.5, -0.25, 1, 2, 1});
  expect_same(second.centre, {9, 0, 0, 4});
  expect_same(last, {9, 4});
}

TEST(FeatureSpec, AMissingValueHoldsTheLevelAndTakesTheResidualAway) {
  const FeatureSpec spec = two_channels();
  std::vector<double> last = {12, 3};
  const Step gap = step(spec, {kMissing, 3.5}, last);
  expect_same(gap.features, {0, 0.5, 0, 1, 1});
  expect_same(gap.centre, {kMissing, kMissing, 0, 3.5});
  expect_same(last, {12, 3.5});
  // After the gap the increment is that since the value before it.
  const Step after = step(spec, {16, kMissing}, last);
  expect_same(after.features, {2, 1.5, 1, 0, 0});
  expect_same(after.centre, {16, 0, kMissing, kMissing});
  expect_same(last, {16, 3.5});
}

TEST(FeatureSpec, BeforeAnyValueAllIsZero) {
  const FeatureSpec spec = two_channels();
  std::vector<double> last = {kMissing, kMissing};
  const Step nothing = step(spec, {kMissing, kMissing}, last);
  expect_same(nothing.features, {0, 0, 0, 0, 0});
  expect_same(nothing.centre, {kMissing, kMissing, kMissing, kMissing});
  expect_same(last, {kMissing, kMissing});
}

TEST(FeatureSpec, OutliersAreCutOffButNotForgotten) {
  const FeatureSpec spec = two_channels();
  std::vector<double> last = {10, 0};
  const Step high = step(spec, {1e12, -1e12}, last);
  expect_same(high.features, {10, 10, 1, -10, 1});
  expect_same(high.centre, {1e12, 0, 0, -1e12});
  expect_same(last, {1e12, -1e12});
  const Step back = step(spec, {10, 0}, last);
  expect_same(back.features, {-10, 0, 1, 10, 1});
}

TEST(FeatureSpec, AStateIsTrustedAsItsChannel) {
  FeatureSpec spec = two_channels();
  spec.channel_of_state[2] = -1;
  const double channels[] = {0.25, 0.75};
  std::vector<double> trust(8, 77);
  spec.trust_to(channels, trust.data(), 2);
  EXPECT_EQ(trust, (std::vector<double>{0.25, 77, 0.25, 77, 0.5, 77, 0.75, 77}));
}

TEST(FeatureSpec, StrideLeavesOtherLanesAlone) {
  const FeatureSpec spec = two_channels();
  constexpr int kStride = 3;
  std::vector<float> features(5 * kStride, 77);
  std::vector<double> centre(4 * kStride, 77), last = {11, 1};
  const double y[] = {9, kMissing};
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
  FeatureSpec spec = two_channels();
  spec.measured_state = {-1, 3};
  spec.channel_of_state = {-1, 0, -1, 1};
  std::vector<double> last = {12, 3};
  expect_same(step(spec, {kMissing, 4}, last).centre, {0, kMissing, 0, 4});
  expect_same(step(spec, {5, kMissing}, last).centre, {0, 0, 0, kMissing});
  expect_same(step(spec, {kMissing, kMissing}, last).centre,
              {kMissing, kMissing, kMissing, kMissing});
}

TEST(FeatureSpec, WhatDrivesTheStepStandsBehindTheChannels) {
  FeatureSpec spec = two_channels();
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
