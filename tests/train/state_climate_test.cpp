#include "train/state_climate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// Two channels: one stays about 7 with a deviation of 3 and keeps 0.9 of it from step to step, the
// other is a walk. Noise of variance 1.
Dataset stays_and_walks(int steps) {
  RandomStream random(8, "stays and walks");
  Dataset data;
  data.y_names = {"stays", "walks"};
  Series& series = data.series.emplace_back();
  series.steps = steps;
  double off = 0, level = 0;
  for (int k = 0; k < steps; ++k) {
    off = 0.9 * off + 3 * std::sqrt(1 - 0.81) * random.normal();
    level += random.normal();
    series.y.insert(series.y.end(), {7 + off + random.normal(), level + random.normal()});
  }
  return data;
}

TEST(StateClimate, IsThatOfTheStatesThatStay) {
  const Case c(stays_and_walks(8000), "constant-position");
  ThreadTeam team(1);
  const StaticResult fitted = fit_static(c.description, c.channels,
                                         model::noise_of_channels(model::parse_noise("learn"), 2),
                                         c.scaled, c.everything(), team);
  const model::StateClimate climate =
      find_climate(*fitted.alone<float>(), c.scaled, c.everything(), team);
  const model::Units& units = c.description.units;
  ASSERT_EQ(climate.spread.size(), 2u);
  EXPECT_NEAR(units.x_offset[0] + units.x_scale[0] * climate.mean[0], 7, 0.5);
  EXPECT_NEAR(units.x_scale[0] * climate.spread[0], 3, 0.3);
  EXPECT_NEAR(units.y_scale[0] * climate.measured_spread[0], 3, 0.3);
  EXPECT_NEAR(climate.A[0], 0.9, 0.05);
  // What follows is as spread as what was before.
  EXPECT_NEAR(climate.A[0] * climate.A[0] * std::pow(climate.spread[0], 2) + climate.Q[0],
              std::pow(climate.spread[0], 2), 1e-9 * std::pow(climate.spread[0], 2));
  EXPECT_TRUE(std::isinf(climate.spread[1]));
  EXPECT_TRUE(std::isinf(climate.measured_spread[1]));
  for (const std::size_t i : {1, 2, 3}) {
    EXPECT_EQ(climate.A[i], 0);
    EXPECT_EQ(climate.Q[i], 0);
  }
}

TEST(StateClimate, WalksHaveNone) {
  const Case c(dataset_of({local_level(3000, 1, 0.5, 3)}), "constant-position");
  ThreadTeam team(1);
  const StaticResult fitted = fit_static(c.description, c.channels,
                                         model::noise_of_channels(model::parse_noise("learn"), 1),
                                         c.scaled, c.everything(), team);
  EXPECT_TRUE(find_climate(*fitted.alone<float>(), c.scaled, c.everything(), team).spread.empty());
}

}  // namespace
}  // namespace kalmia::train
