#include "simulate/linear_motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kalmia/simulate.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::simulation {
namespace {

constexpr int kTestSteps = 32768;  // as in the paper

Dataset paper_test_set(std::uint64_t seed) {
  SimulateOptions options;
  options.steps = kTestSteps;
  options.seed = seed;
  return kalmia::simulate("linear", options);
}

// Mean square of the filtered states' error over all six states and all steps.
double filter_error(const LinearModel& model, const Dataset& data) {
  const Series& series = data.series[0];
  FilterOptions options;
  options.predicted = options.covariances = options.innovations = false;
  const FilterResult result =
      kalman_filter(model, {series.y.data(), 1, series.steps, model.meas_dim}, options);
  double sum = 0;
  for (std::size_t i = 0; i < series.x.size(); ++i)
    sum += std::pow(result.filtered.mean[i] - series.x[i], 2);
  return sum / static_cast<double>(series.x.size());
}

// Paper, Sec. 8.1: 0.135 for the optimal Kalman filter. Steps are correlated over about ten, so
// that the error of the mean over 32768 is about 0.001.
TEST(LinearMotion, TheOptimalFilterHasThePublishedError) {
  const LinearModel model = linear_motion_model();
  for (const std::uint64_t seed : {1u, 2u})
    EXPECT_NEAR(filter_error(model, paper_test_set(seed)), 0.1355, 0.004) << "seed " << seed;
}

// docs/errata.md, item 2: with the entry as printed the optimal error is 0.150.
TEST(LinearMotion, ThePrintedMatrixIsAnotherSystem) {
  EXPECT_DOUBLE_EQ(linear_motion_matrix()[2 * 6 + 1], -0.17);
  EXPECT_DOUBLE_EQ(linear_motion_matrix(LinearMotion::Printed)[2 * 6 + 1], -0.17 * 0.06);
  EXPECT_DOUBLE_EQ(linear_motion_matrix()[5 * 6 + 4], -0.17);
  const LinearModel printed = linear_motion_model(1, 0.5, LinearMotion::Printed);
  // The stationary filtered covariance is the expected error; measure it from the filter itself.
  std::vector<double> y(2 * 500, 0.0);
  const FilterResult result = kalman_filter(printed, {y.data(), 1, 500, 2});
  double trace = 0;
  for (std::size_t i = 0; i < 6; ++i) trace += result.filtered.covariance[499 * 36 + i * 6 + i] / 6;
  EXPECT_NEAR(trace, 0.150, 0.001);
}

// Two steps of half the length are one step: F(dt/2)^2 = F(dt), with exp by its series.
TEST(LinearMotion, TheTransitionIsTheExponential) {
  const std::vector<double> A = linear_motion_matrix();
  std::vector<double> term(36, 0.0), sum(36, 0.0);
  for (std::size_t i = 0; i < 6; ++i) term[i * 6 + i] = sum[i * 6 + i] = 1;
  for (int n = 1; n < 40; ++n) {
    std::vector<double> next(36, 0.0);
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        for (std::size_t k = 0; k < 6; ++k)
          next[i * 6 + j] += term[i * 6 + k] * A[k * 6 + j] * 0.7 / n;
    term = next;
    for (std::size_t i = 0; i < 36; ++i) sum[i] += term[i];
  }
  const LinearModel model = linear_motion_model(0.7, 0.5);
  for (std::size_t i = 0; i < 36; ++i) EXPECT_NEAR(model.F[i], sum[i], 1e-14) << i;
  EXPECT_DOUBLE_EQ(model.Q[0], 0.7 * 0.01 / 3);
  EXPECT_DOUBLE_EQ(model.Q[2 * 6 + 2], 0.7 * 0.03);
}

// What the simulation draws is what the model says: residuals x[k] - F x[k-1] have covariance Q.
TEST(LinearMotion, TheSimulationFollowsTheModel) {
  const LinearModel model = linear_motion_model();
  const Dataset data = paper_test_set(3);
  const std::vector<double>& x = data.series[0].x;
  std::vector<double> covariance(36, 0.0);
  for (std::size_t k = 1; k < kTestSteps; ++k) {
    double w[6];
    for (std::size_t i = 0; i < 6; ++i) {
      w[i] = x[k * 6 + i];
      for (std::size_t j = 0; j < 6; ++j) w[i] -= model.F[i * 6 + j] * x[(k - 1) * 6 + j];
    }
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) covariance[i * 6 + j] += w[i] * w[j] / (kTestSteps - 1);
  }
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      const double scale = std::sqrt(model.Q[i * 6 + i] * model.Q[j * 6 + j]);
      EXPECT_NEAR(covariance[i * 6 + j] / scale, i == j ? 1 : 0, 0.035) << i << ", " << j;
    }
}

// The prior of the first order is I + A dt, with the same A.
TEST(LinearMotion, ThePriorHasTheSameEquations) {
  const std::vector<double> A = linear_motion_matrix();
  const prior::Expert expert = prior::make_expert(test::named("linear-motion", 1), {"y1", "y2"});
  const prior::LocalMap map = prior::local_map(expert, {prior::Vector::Zero(6), 1});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      EXPECT_DOUBLE_EQ(map.F(i, j), A[static_cast<std::size_t>(i * 6 + j)] + (i == j ? 1 : 0))
          << i << ", " << j;
}

TEST(LinearMotion, StatesAreNamedAndPositionsMeasured) {
  const Dataset data = paper_test_set(4);
  const std::vector<std::string> names{"true_y1", "true_y1_rate", "true_y1_acceleration",
                                       "true_y2", "true_y2_rate", "true_y2_acceleration"};
  EXPECT_EQ(data.x_names, names);
  double square[2] = {0, 0};
  for (std::size_t k = 0; k < kTestSteps; ++k)
    for (std::size_t m = 0; m < 2; ++m)
      square[m] += std::pow(data.series[0].y[k * 2 + m] - data.series[0].x[k * 6 + 3 * m], 2);
  for (const double sum : square) EXPECT_NEAR(std::sqrt(sum / kTestSteps), 0.5, 0.01);
}

}  // namespace
}  // namespace kalmia::simulation
