#include "reproduce/outcome.hpp"

#include <gtest/gtest.h>

#include "simulate/linear_motion.hpp"

namespace kalmia::reproduction {
namespace {

struct Case {
  Dataset test;
  LinearModel model = simulation::linear_motion_model();
  MeasurementsView y;

  explicit Case(int steps = 600)
      : test(make_trajectories("linear", 1, 1, 1, steps).test),
        y{test.series[0].y.data(), 1, steps, 2} {}

  double error(const double* mean) const {
    double sum = 0;
    for (std::size_t i = 0; i < test.series[0].x.size(); ++i) {
      const double e = mean[i] - test.series[0].x[i];
      sum += e * e;
    }
    return sum / static_cast<double>(test.series[0].x.size());
  }
};

TEST(Outcome, FilterAndSmootherAreScoredEachByItsOwn) {
  const Case c;
  const FilterResult result = rts_smoother(c.model, c.y);
  const Pass pass = classical_pass(result, c.test, c.model.H, c.model.R);
  const Outcome filter = outcome_of(pass, c.test, Scored::Filter);
  const Outcome smoother = outcome_of(pass, c.test, Scored::Smoother);
  EXPECT_NEAR(*filter.row.state_mse, c.error(result.filtered.mean.data()), 1e-12);
  EXPECT_NEAR(*smoother.row.state_mse, c.error(result.smoothed.mean.data()), 1e-12);
  EXPECT_LT(*smoother.row.state_mse, 0.6 * *filter.row.state_mse);
  EXPECT_LT(*smoother.row.position_mse, *filter.row.position_mse);
  // The true model: its covariances are right.
  EXPECT_NEAR(*filter.row.nees, 1, 0.1);
  EXPECT_NEAR(*smoother.row.coverage95, 0.95, 0.03);
  EXPECT_EQ(filter.row.prediction_error, smoother.row.prediction_error);
}

TEST(Outcome, KeepsTheBeginningOfTheChannels) {
  const Case c;
  const FilterResult result = kalman_filter(c.model, c.y);
  const Outcome outcome =
      outcome_of(classical_pass(result, c.test, c.model.H, c.model.R), c.test, Scored::Filter);
  ASSERT_EQ(outcome.channels.size(), std::size_t{2 * kTrajectory});
  for (std::size_t k : {0, 100, kTrajectory - 1}) {
    EXPECT_EQ(outcome.channels[2 * k], result.filtered.mean[6 * k]);
    EXPECT_EQ(outcome.channels[2 * k + 1], result.filtered.mean[6 * k + 3]);
  }
}

TEST(Outcome, ASmootherAloneHasNoPredictionsOfItsFilter) {
  const Case c;
  const Pass pass = classical_pass(rts_smoother(c.model, c.y), c.test, c.model.H, c.model.R);
  const Outcome outcome = outcome_of(pass, c.test, Scored::SmootherAlone);
  EXPECT_TRUE(outcome.row.state_mse);
  EXPECT_FALSE(outcome.row.prediction_error);
}

TEST(Outcome, AShortTrajectoryIsNotDecomposed) {
  for (const int steps : {kUnscored, kUnscored + 1}) {
    const Case c(steps);
    const Pass pass = classical_pass(rts_smoother(c.model, c.y), c.test, c.model.H, c.model.R);
    EXPECT_EQ(outcome_of(pass, c.test, Scored::Filter).row.prediction_error.has_value(),
              steps > kUnscored);
  }
}

TEST(Outcome, RawMeasurementsHaveNoStateErrorWhereStatesAreHidden) {
  const Outcome linear = raw_outcome(make_trajectories("linear", 1, 1, 1, 20000).test);
  EXPECT_FALSE(linear.row.state_mse);
  EXPECT_NEAR(*linear.row.position_mse, 0.25, 0.01);
  const Outcome lorenz = raw_outcome(make_trajectories("lorenz", 1, 1, 1, 20000).test);
  EXPECT_EQ(lorenz.row.state_mse, lorenz.row.position_mse);
}

TEST(Outcome, ZerosForStatesThatAreNotEstimated) {
  Dataset data;
  data.y_names = {"y"};
  data.x_names = {"true_v", "true_y"};
  data.series.resize(1);
  data.series[0].steps = 2;
  data.series[0].x = {3, 10, 4, 20};  // v: mean square 12.5
  EXPECT_DOUBLE_EQ(state_mse_with_zeros(data, 0.5), (12.5 + 0.5) / 2);
}

}  // namespace
}  // namespace kalmia::reproduction
