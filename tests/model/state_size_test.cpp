#include "model/state_size.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "base/random.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::model {
namespace {

// Two channels that go together, 0.8 of their spread.
Dataset pairs(bool second_wanders) {
  RandomStream random(5, "pairs");
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = 4000;
  double level = 0;
  for (int k = 0; k < series.steps; ++k) {
    const double common = random.normal();
    level += second_wanders ? random.normal() : 0;
    series.y.push_back(10 + 2 * common);
    series.y.push_back(-1 + 3 * (0.8 * common + 0.6 * random.normal()) + level);
  }
  return data;
}

struct Case {
  Dataset data;
  ModelDescription description;
  std::vector<ChannelStatistics> channels = channel_statistics(data);
  prior::Expert expert;

  Case(const Dataset& of, const prior::ExpertSpec& spec) : data(of) {
    description.measured_names = data.y_names;
    description.prior = spec;
    description.dt = 0.5;
    expert = expert_of(description);
    description.units = make_units(expert, channels, description.dt);
  }
  prior::StateFrame frame() const {
    return state_frame(expert, description, channels, channel_correlation(data, channels));
  }
};

prior::ExpertSpec two_states() {
  System system;
  system.states = {"a", "b"};
  system.next = {{"a", "0.9*a"}, {"b", "0.8*b"}};
  return test::equations(system);
}

TEST(StateFrame, WhitensWhatIsMeasured) {
  const Case c(pairs(false), two_states());
  const prior::StateFrame frame = c.frame();
  EXPECT_NEAR(frame.centre[0], 10, 0.2);
  EXPECT_NEAR(frame.centre[1], -1, 0.2);
  EXPECT_EQ(frame.dt, 0.5);
  const Eigen::Matrix2d W{{frame.whitening[0], frame.whitening[1]},
                          {frame.whitening[2], frame.whitening[3]}};
  EXPECT_EQ(W(0, 1), 0);
  const Eigen::Matrix2d C{{4, 2 * 3 * 0.8}, {2 * 3 * 0.8, 9}};
  EXPECT_LT((W * C * W.transpose() - Eigen::Matrix2d::Identity()).norm(), 0.15);
}

TEST(StateFrame, AWanderingChannelIsNotMixedIn) {
  const Case c(pairs(true), two_states());
  ASSERT_TRUE(c.channels[1].wanders);
  EXPECT_EQ(c.frame().whitening[2], 0);
}

TEST(StateFrame, MotionModelsHaveItInTheirOwnUnits) {
  const Case c(pairs(false), test::named("constant-velocity"));
  const prior::StateFrame frame = c.frame();
  ASSERT_EQ(frame.centre.size(), 4u);
  EXPECT_NEAR(frame.centre[0], 0, 1e-12);
  EXPECT_NEAR(frame.whitening[0], c.channels[0].step / c.channels[0].spread, 1e-12);
  EXPECT_EQ(frame.dt, 1);
}

// The mean is in one part; a season is as wide as the channel, and changes slowly.
TEST(StateSize, OfASum) {
  const Case c(pairs(false),
               test::sum_of_parts("a: level + memory + season(6, 1); b: ar(2)", {"a", "b"}));
  ModelDescription shifted = c.description;
  shifted.units.y_offset = {0, 0};
  const auto size = [&](int n) { return state_size(c.expert, n, shifted, c.channels); };
  const double unit = c.channels[0].step, spread = 3 * c.channels[0].spread / unit;
  EXPECT_NEAR(size(0).mean, c.channels[0].mean / unit, 1e-12);
  EXPECT_EQ(size(1).mean, 0);
  EXPECT_EQ(size(2).mean, 0);
  for (int n = 0; n < 4; ++n) EXPECT_NEAR(size(n).width, spread, 1e-12) << n;
  EXPECT_LT(size(2).step, size(0).step);
  EXPECT_EQ(size(2).step, size(3).step);
  // A value that is remembered has the mean, and hardly changes.
  EXPECT_EQ(size(5).mean, size(4).mean);
  EXPECT_LT(size(5).step, 0.01 * size(4).step);
}

// Parts of a channel go their own ways; only what holds the mean goes with other channels.
TEST(StateFrame, PartsOfASumAreNotMixed) {
  const Case c(pairs(false), test::sum_of_parts("level + memory", {"a", "b"}));
  const prior::StateFrame frame = c.frame();
  const auto mixed = [&](std::size_t i, std::size_t j) { return frame.whitening[4 * i + j] != 0; };
  EXPECT_TRUE(mixed(2, 0));
  EXPECT_FALSE(mixed(1, 0));
  EXPECT_FALSE(mixed(3, 1));
  EXPECT_FALSE(mixed(3, 2));
}

// A part that is added to equations begins narrower, with less noise, and without the mean.
TEST(StateSize, OfPartsThatAreAddedToEquations) {
  prior::ExpertSpec spec = two_states();
  spec.parts = {{prior::PartKind::Trend}};
  const Case c(pairs(false), spec);
  ASSERT_EQ(c.expert.state_names, (std::vector<std::string>{"a", "b", "a_trend", "a_trend_rate",
                                                            "b_trend", "b_trend_rate"}));
  const StateSize map = state_size(c.expert, 0, c.description, c.channels);
  const StateSize part = state_size(c.expert, 2, c.description, c.channels);
  EXPECT_NEAR(map.mean, 10, 0.2);
  EXPECT_EQ(part.mean, 0);
  EXPECT_NEAR(part.width, map.width / 3, 1e-12);
  EXPECT_NEAR(part.step, map.step / 10, 1e-12);
  // Their rates are by step inside, and by time for users: a step is half a unit of time.
  EXPECT_EQ(c.description.units.x_scale, (std::vector<double>{1, 1, 1, 2, 1, 2}));
  EXPECT_EQ(c.description.units.x_offset, std::vector<double>(6));
}

}  // namespace
}  // namespace kalmia::model
