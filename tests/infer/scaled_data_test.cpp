#include "infer/scaled_data.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kalmia::infer {
namespace {

const double kMissing = std::nan("");

// Two channels, in units of 2 and 10 from 1 and 5; the third step takes twice as long.
class ScaledDataTest : public testing::Test {
 protected:
  ScaledDataTest() {
    data_.y_names = {"a", "b"};
    data_.u_names = {"u"};
    data_.time_kind = TimeKind::Number;
    Series series;
    series.steps = 3;
    series.y = {3, 25, kMissing, 5, 1, kMissing};
    series.x = {9, 9, 9, 9, 9, 9};
    series.u = {0.5, 0.25, 0.125};
    series.t = {0, 0.5, 1.5};
    series.y_std = {1, 10, 1, 20, 4, 1};
    data_.series = {series};
    units_.y_scale = {2, 10};
    units_.y_offset = {1, 5};
  }

  Dataset data_;
  model::Units units_;
};

TEST_F(ScaledDataTest, MeasurementsAreInTheModelsUnits) {
  const ScaledData scaled(data_, units_, 0.5);
  EXPECT_EQ(scaled.series_count(), 1);
  EXPECT_EQ(scaled.meas_dim(), 2);
  EXPECT_EQ(scaled.series(0).steps(), 3);
  EXPECT_EQ(scaled.at(0, 0)[0], 1);
  EXPECT_EQ(scaled.at(0, 0)[1], 2);
  EXPECT_TRUE(std::isnan(scaled.at(0, 1)[0]));
  EXPECT_EQ(scaled.at(0, 1)[1], 0);
  EXPECT_EQ(scaled.at(0, 2)[0], 0);
}

TEST_F(ScaledDataTest, StepsAreInUsualLengths) {
  const ScaledData scaled(data_, units_, 0.5);
  EXPECT_TRUE(scaled.irregular());
  EXPECT_EQ(scaled.dt_ratio(0, 1)[0], 1);
  EXPECT_EQ(scaled.dt_ratio(0, 1)[1], 2);
  data_.series[0].t = {0, 0.5, 1};
  const ScaledData regular(data_, units_, 0.5);
  EXPECT_FALSE(regular.irregular());
  EXPECT_EQ(regular.dt_ratio(0, 0), nullptr);
}

TEST_F(ScaledDataTest, WeightsFollowFromTheStatedNoise) {
  ScaledData scaled(data_, units_, 0.5);
  scaled.set_weights(data_, {2, 10});
  EXPECT_FALSE(scaled.weighted());
  EXPECT_EQ(scaled.weight(0, 0), nullptr);
  data_.std_names = {"a_std", "b_std"};
  scaled.set_weights(data_, {2, 10});
  ASSERT_TRUE(scaled.weighted());
  EXPECT_EQ(scaled.weight(0, 0)[0], 4);     // (2 / 1)^2
  EXPECT_EQ(scaled.weight(0, 1)[1], 0.25);  // (10 / 20)^2
  EXPECT_EQ(scaled.weight(0, 1)[0], 1);     // missing
}

TEST_F(ScaledDataTest, APieceIsAViewOfItsSteps) {
  data_.std_names = {"a_std", "b_std"};
  ScaledData scaled(data_, units_, 0.5);
  scaled.set_weights(data_, {2, 10});
  const SeriesView piece = scaled.view({0, 1, 3});
  EXPECT_EQ(piece.steps, 2);
  EXPECT_EQ(piece.y, scaled.at(0, 1));
  EXPECT_EQ(piece.weight, scaled.weight(0, 1));
  EXPECT_EQ(piece.dt_ratio, scaled.dt_ratio(0, 1));
  EXPECT_EQ(piece.u, scaled.inputs(0, 1));
}

// Of n values in units s: log p(y) = log p(y / s) - sum of log s, with log p = -(nll + n log 2 pi)
// / 2.
TEST_F(ScaledDataTest, ALikelihoodIsStatedInTheUsersUnits) {
  const ScaledData scaled(data_, units_, 0.5);
  const Measured all = scaled.measured(scaled.series(0));
  EXPECT_EQ(all.values, 4);
  EXPECT_DOUBLE_EQ(all.log_units, 2 * std::log(2.0) + 2 * std::log(10.0));
  EXPECT_DOUBLE_EQ(all.log_likelihood(3.0),
                   -0.5 * (3 + 4 * std::log(2 * std::numbers::pi)) - all.log_units);
  EXPECT_DOUBLE_EQ(all.loss(3.0), -all.log_likelihood(3.0) / 4);
}

}  // namespace
}  // namespace kalmia::infer
