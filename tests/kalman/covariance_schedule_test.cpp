// A filter that follows the shared sequence of covariances gives what it gives by itself.
#include "kalman/classical/covariance_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "kalman/classical/batch.hpp"
#include "kalman/classical/line_step.hpp"
#include "kalmia/classical.hpp"

namespace kalmia::kalman {
namespace {

LinearModel track_model() {
  LinearModel model;
  model.state_dim = 2;
  model.meas_dim = 1;
  model.F = {1, 1, 0, 0.95};
  model.Q = {0.02, 0, 0, 0.05};
  model.H = {1, 0};
  model.R = {0.3};
  model.x0 = {0.5, -0.1};
  model.P0 = {4, 0, 0, 2};
  return model;
}

// Step by step: covariances and means of the schedule against a filter that computes both.
TEST(CovarianceSchedule, EqualsTheFilterThatComputesItsOwn) {
  const LinearModel model = track_model();
  const ModelLines lines = make_model_lines(model);
  FilterState scratch(2, 1), alone(2, 1), follower(2, 1);
  constexpr int kSteps = 400;
  const CovarianceSchedule schedule(lines, scratch, kSteps);
  std::vector<double> predicted(kSteps * 4), filtered(kSteps * 4);
  ASSERT_TRUE(schedule.covers(kSteps - 1));
  schedule.write_predicted(kSteps, predicted.data());
  schedule.write_filtered(kSteps, filtered.data());
  alone.restart();
  follower.restart();
  RandomStream random(3, "schedule");
  for (int k = 0; k < kSteps; ++k) {
    for (int b = 0; b < kLanes; ++b) alone.y[b] = follower.y[b] = random.normal();
    ASSERT_EQ(advance_linear(lines, alone, kAllLaneBits, 0), 0u);
    advance_mean(lines, follower, schedule.at(k));
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(predicted[static_cast<std::size_t>(k * 4 + i)], alone.P_pred[i * kLanes]) << k;
      ASSERT_EQ(filtered[static_cast<std::size_t>(k * 4 + i)], alone.P_filt[i * kLanes]) << k;
    }
    for (int i = 0; i < 2 * kLanes; ++i) ASSERT_EQ(follower.x_filt[i], alone.x_filt[i]) << k;
    for (int b = 0; b < kLanes; ++b) ASSERT_EQ(follower.nll[b], alone.nll[b]) << k;
  }
}

// A gap ends the common way at any step, before and after the covariances have settled.
TEST(CovarianceSchedule, AGapLeavesItAtAnyStep) {
  const LinearModel model = track_model();
  constexpr int kSteps = 200;
  RandomStream random(4, "schedule");
  std::vector<double> y(kSteps);
  for (double& value : y) value = random.normal();
  for (const int gap : {0, 1, 5, 60, 150}) {
    std::vector<double> with_gap = y;
    with_gap[static_cast<std::size_t>(gap)] = std::nan("");
    const FilterResult got = kalman_filter(model, {with_gap.data(), 1, kSteps, 1, {}});
    KalmanStream stream(model);  // has no schedule
    for (int k = 0; k < kSteps; ++k) {
      stream.step({with_gap.data() + k, 1});
      for (std::size_t i = 0; i < 4; ++i)
        ASSERT_EQ(got.filtered.covariance[static_cast<std::size_t>(k) * 4 + i],
                  stream.filtered_covariance()[i])
            << "gap " << gap << ", step " << k;
      for (std::size_t i = 0; i < 2; ++i)
        ASSERT_EQ(got.filtered.mean[static_cast<std::size_t>(k) * 2 + i], stream.filtered_mean()[i])
            << "gap " << gap << ", step " << k;
    }
    ASSERT_EQ(got.log_likelihood[0], stream.log_likelihood()) << "gap " << gap;
  }
}

TEST(CovarianceSchedule, AUsedResultIsFilledAgain) {
  const LinearModel model = track_model();
  RandomStream random(5, "schedule");
  std::vector<double> y(60);
  for (double& value : y) value = random.normal();
  FilterResult again;
  kalman_filter(model, {y.data(), 3, 20, 1, {}}, {}, again);
  const double* memory = again.filtered.covariance.data();
  for (double& value : y) value = random.normal();
  const FilterResult fresh = kalman_filter(model, {y.data(), 3, 20, 1, {}});
  kalman_filter(model, {y.data(), 3, 20, 1, {}}, {}, again);
  EXPECT_EQ(again.filtered.covariance.data(), memory);
  EXPECT_TRUE(std::equal(fresh.filtered.mean.begin(), fresh.filtered.mean.end(),
                         again.filtered.mean.begin()));
  EXPECT_EQ(fresh.log_likelihood, again.log_likelihood);
  FilterOptions less;
  less.predicted = false;
  kalman_filter(model, {y.data(), 2, 30, 1, {}}, less, again);
  EXPECT_TRUE(again.predicted.mean.empty());
  EXPECT_EQ(again.filtered.mean.size(), 2u * 30u * 2u);
}

}  // namespace
}  // namespace kalmia::kalman
