#include "reproduce/exact_smoother.hpp"

#include <gtest/gtest.h>

#include "reproduce/expert_function.hpp"
#include "reproduce/tasks.hpp"
#include "reproduce/trajectories.hpp"

namespace kalmia::reproduction {
namespace {

const std::vector<double> kIdentity = {1, 0, 0, 0, 1, 0, 0, 0, 1};

std::vector<double> times(double factor) {
  std::vector<double> matrix = kIdentity;
  for (double& each : matrix) each *= factor;
  return matrix;
}

NonlinearModel lorenz() {
  NonlinearModel model;
  model.state_dim = model.meas_dim = 3;
  prior::ExpertSpec flow;
  flow.kind = prior::PriorKind::Lorenz;
  flow.integration.flow = prior::FlowKind::Rk4;
  flow.integration.substeps = 10;
  model.transition = expert_function(flow, {"y1", "y2", "y3"}, 0.05);
  model.emission = [](std::span<const double> x, int, std::span<double> value,
                      std::span<double> J) {
    std::copy(x.begin(), x.end(), value.begin());
    std::copy(kIdentity.begin(), kIdentity.end(), J.begin());
  };
  model.Q = times(1e-3);
  model.R = times(0.25);
  model.x0 = {0, 0, 25};
  model.P0 = times(100);
  return model;
}

double error(const FilterResult& result, const std::vector<double>& truth) {
  return mean_square_error(result.smoothed.mean, truth);
}

TEST(ExactSmoother, KnowsAChaoticPathFarBetterThanTheExtendedOne) {
  const Dataset data = make_trajectories("lorenz", 1, 1, 1, 2000).test;
  const MeasurementsView y{data.series[0].y.data(), 1, 2000, 3};
  const NonlinearModel model = lorenz();
  const double extended = error(extended_rts_smoother(model, y), data.series[0].x);
  const FilterResult exact = smooth_exactly(model, y);
  EXPECT_LT(error(exact, data.series[0].x), 0.1 * extended);
  // The path follows the flow.
  std::vector<double> next(3), J(9);
  for (std::size_t k = 0; k + 1 < 2000; ++k) {
    model.transition({&exact.smoothed.mean[3 * k], 3}, 1, next, J);
    for (std::size_t i = 0; i < 3; ++i)
      ASSERT_NEAR(next[i], exact.smoothed.mean[3 * (k + 1) + i], 1e-4);
  }
}

TEST(ExactSmoother, OfALinearModelItIsTheSmootherAtTheLastNoise) {
  LinearModel linear;
  linear.state_dim = linear.meas_dim = 1;
  linear.F = {0.9};
  linear.Q = {1e-6};
  linear.H = linear.R = linear.P0 = {1};
  NonlinearModel model;
  model.state_dim = model.meas_dim = 1;
  model.transition = [](std::span<const double> x, int, std::span<double> value,
                        std::span<double> J) {
    value[0] = 0.9 * x[0];
    J[0] = 0.9;
  };
  model.emission = [](std::span<const double> x, int, std::span<double> value,
                      std::span<double> J) {
    value[0] = x[0];
    J[0] = 1;
  };
  model.Q = model.R = model.P0 = {1};
  const std::vector<double> y = {1.2, 0.3, 0.9, -0.2, 0.4};
  ExactSmootherOptions options;
  options.last_variance = 1e-6;
  const FilterResult found = smooth_exactly(model, {y.data(), 1, 5, 1}, options);
  const FilterResult expected = rts_smoother(linear, {y.data(), 1, 5, 1});
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(found.smoothed.mean[k], expected.smoothed.mean[k], 1e-12);
}

}  // namespace
}  // namespace kalmia::reproduction
