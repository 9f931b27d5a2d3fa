#include "infer/lane_fill.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "model/learned_cases.hpp"

namespace kalmia::infer {
namespace {

constexpr int kSteps = 3, kLanes = 16, kLane = 5;
const double kMissing = std::nan("");

class LaneFill : public testing::Test {
 protected:
  LaneFill() {
    prepare_group(*model_, kSteps, kLanes, false, group_);
    for (double& value : group_.y.span()) value = 77;
    for (double& value : group_.observed.span()) value = 77;
    for (double& value : group_.centre.span()) value = 77;
    for (float& value : group_.input_fwd.span()) value = 77;
  }

  void fill(int k, const double* before, const std::vector<double>& now) {
    fill_step<float>(*model_, k, kLane, before, now.data(), 1, nullptr, memory_, nullptr, group_);
  }
  template <typename T>
  T at(const Buffer<T>& panel, int rows, int k, int row, int lane = kLane) const {
    return panel[static_cast<std::size_t>((k * rows + row) * kLanes + lane)];
  }
  double y(int k, int m) const { return at(group_.y, 2, k, m); }
  double observed(int k, int m) const { return at(group_.observed, 2, k, m); }
  double centre(int k, int n) const { return at(group_.centre, 4, k, n); }
  float input(int k, int i) const { return at(group_.input_fwd, 5, k, i); }

  const std::unique_ptr<model::LearnedModel<float>> model_ = test::static_case(2).make<float>();
  heads::StateGroup<float> group_;
  LaneMemory memory_ = empty_memory(2);
};

TEST_F(LaneFill, PreparesRoomForEverything) {
  EXPECT_EQ(group_.steps, kSteps);
  EXPECT_EQ(group_.lanes, kLanes);
  EXPECT_EQ(group_.y.size(), static_cast<std::size_t>(kSteps * 2 * kLanes));
  EXPECT_EQ(group_.observed.size(), static_cast<std::size_t>(kSteps * 2 * kLanes));
  EXPECT_EQ(group_.centre.size(), static_cast<std::size_t>(kSteps * 4 * kLanes));
  EXPECT_EQ(group_.input_fwd.size(), static_cast<std::size_t>(kSteps * 5 * kLanes));
  EXPECT_EQ(group_.length, std::vector<int>(kLanes, 0));
  EXPECT_EQ(group_.fresh, std::vector<std::uint8_t>(kLanes, 1));
  EXPECT_TRUE(std::isnan(memory_[0]) && std::isnan(memory_[1]));
}

TEST_F(LaneFill, TheFirstStepHasNothingToReadButItsMeasurement) {
  fill(0, nullptr, {60, kMissing});
  EXPECT_EQ(y(0, 0), 60);
  EXPECT_EQ(y(0, 1), 0);
  EXPECT_EQ(observed(0, 0), 1);
  EXPECT_EQ(observed(0, 1), 0);
  EXPECT_EQ(input(0, 0), 77);
  EXPECT_EQ(centre(0, 0), 77);
  EXPECT_TRUE(std::isnan(memory_[0]));
}

// What the networks read at a step is of the one before it.
TEST_F(LaneFill, LaterStepsReadTheOneBefore) {
  const double first[] = {60, kMissing}, second[] = {100, 20};
  fill(0, nullptr, {60, kMissing});
  fill(1, first, {100, 20});
  fill(2, second, {kMissing, 5});
  EXPECT_EQ(memory_, (LaneMemory{100, 20}));
  EXPECT_EQ(y(2, 1), 5);
  EXPECT_EQ(observed(2, 0), 0);
  // Step 1: channel 0 has shown 60, mean 0.5, spread 100; channel 1 nothing.
  const float step_1[] = {0, 0.595f, 1, 0, 0};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(input(1, i), step_1[i]) << i;
  EXPECT_EQ(centre(1, 0), 60);
  EXPECT_EQ(centre(1, 1), 0);
  EXPECT_TRUE(std::isnan(centre(1, 2)) && std::isnan(centre(1, 3)));
  // Step 2: an increment of 40 over a step of 40; channel 1's first value.
  const float step_2[] = {1, 0.995f, 1, 0, 1};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(input(2, i), step_2[i]) << i;
  EXPECT_EQ(centre(2, 0), 100);
  EXPECT_EQ(centre(2, 2), 20);
  EXPECT_EQ(centre(2, 3), 0);
}

TEST_F(LaneFill, OtherLanesAreLeftAlone) {
  const double before[] = {60, 3};
  fill(1, before, {61, 4});
  for (int k = 0; k < kSteps; ++k)
    for (int lane = 0; lane < kLanes; ++lane) {
      if (k == 1 && lane == kLane) continue;
      for (int m = 0; m < 2; ++m) {
        EXPECT_EQ(at(group_.y, 2, k, m, lane), 77);
        EXPECT_EQ(at(group_.observed, 2, k, m, lane), 77);
      }
      for (int i = 0; i < 5; ++i) EXPECT_EQ(at(group_.input_fwd, 5, k, i, lane), 77);
      for (int n = 0; n < 4; ++n) EXPECT_EQ(at(group_.centre, 4, k, n, lane), 77);
    }
}

TEST_F(LaneFill, WithoutLengthsAndInputsThereIsNoRoomForThem) {
  EXPECT_TRUE(group_.dt.empty());
  EXPECT_TRUE(group_.u.empty());
}

// A system with two inputs, of which the first drives it, and steps of any length.
class DrivenLaneFill : public testing::Test {
 protected:
  static std::unique_ptr<model::LearnedModel<float>> model() {
    model::ModelDescription d = test::motion_description(1);
    d.dt = 0.5;
    d.input_names = {"force", "wind"};
    d.prior.kind = prior::PriorKind::System;
    d.prior.system.states = {"north"};
    d.prior.system.inputs = {"force"};
    d.prior.system.ode = {{"north", "force"}};
    d.units = {{1}, {0}, {1}, {0}};
    d.features.use_dt = true;
    d.features.u_mean = {1, -2};
    d.features.u_spread = {2, 0.5};
    return test::static_case(d).make<float>();
  }
  template <typename T>
  T at(const Buffer<T>& panel, int rows, int k, int row) const {
    return panel[static_cast<std::size_t>((k * rows + row) * kLanes + kLane)];
  }

  const std::unique_ptr<model::LearnedModel<float>> model_ = model();
  heads::StateGroup<float> group_;
  LaneMemory memory_ = empty_memory(1);
};

TEST_F(DrivenLaneFill, LengthsAndInputsOfTheStepReachMapAndNetworks) {
  prepare_group(*model_, kSteps, kLanes, true, group_);
  EXPECT_EQ(group_.dt.size(), static_cast<std::size_t>(kSteps * kLanes));
  EXPECT_EQ(group_.u.size(), static_cast<std::size_t>(kSteps * 2 * kLanes));
  const double y[] = {60, 61, 62}, ratio[] = {1, 3, 0.25}, u[] = {5, -1, 7, -3, 100, 100};
  const SeriesView piece{y, 3, ratio, u};
  for (int k = 0; k < 3; ++k)
    fill_step<float>(*model_, k, kLane, piece, k, memory_, nullptr, group_);
  // The map is in physical units: lengths in units of time. Inputs of the step before act.
  EXPECT_EQ(at(group_.dt, 1, 1, 0), 1.5);
  EXPECT_EQ(at(group_.dt, 1, 2, 0), 0.125);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(at(group_.u, 2, 0, i), 0) << "nothing acts before the first step";
    EXPECT_EQ(at(group_.u, 2, 1, i), u[i]);
    EXPECT_EQ(at(group_.u, 2, 2, i), u[2 + i]);
  }
  // increment, level, measured; log of the ratio, (u - mean) / spread.
  EXPECT_EQ(model_->description().features.input_dim(), 6);
  EXPECT_EQ(at(group_.input_fwd, 6, 1, 3), static_cast<float>(std::log(3.0)));
  EXPECT_EQ(at(group_.input_fwd, 6, 1, 4), 2);
  EXPECT_EQ(at(group_.input_fwd, 6, 1, 5), 2);
  EXPECT_EQ(at(group_.input_fwd, 6, 2, 3), static_cast<float>(std::log(0.25)));
  EXPECT_EQ(at(group_.input_fwd, 6, 2, 4), 3);
  EXPECT_EQ(at(group_.input_fwd, 6, 2, 5), -2);
  // Without lengths, each is the usual one.
  prepare_group(*model_, kSteps, kLanes, true, group_);
  fill_step<float>(*model_, 1, kLane, SeriesView{y, 3, nullptr, u}, 1, memory_, nullptr, group_);
  EXPECT_EQ(at(group_.dt, 1, 1, 0), 0.5);
  EXPECT_EQ(at(group_.input_fwd, 6, 1, 3), 0);
}

}  // namespace
}  // namespace kalmia::infer
