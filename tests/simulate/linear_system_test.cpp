#include "simulate/linear_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia::simulation {
namespace {

TEST(StationaryCovariance, SolvesTheLyapunovEquation) {
  Eigen::MatrixXd F(3, 3), Q(3, 3);
  F << 0.9, 0.3, 0, -0.3, 0.9, 0.1, 0, 0, 0.99;
  Q << 1, 0.2, 0, 0.2, 2, -0.1, 0, -0.1, 0.5;
  const Eigen::MatrixXd P = stationary_covariance(F, Q);
  EXPECT_LT((P - F * P * F.transpose() - Q).norm(), 1e-11 * P.norm());
  // One dimension by hand: P = q / (1 - f^2).
  const Eigen::MatrixXd f = Eigen::MatrixXd::Constant(1, 1, 0.8);
  EXPECT_NEAR(stationary_covariance(f, Eigen::MatrixXd::Constant(1, 1, 0.72))(0, 0), 2, 1e-14);
}

TEST(StationaryCovariance, RefusesASystemWithoutOne) {
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(2, 2);
  EXPECT_THROW(stationary_covariance(one, one), NumericalError);
  EXPECT_THROW(stationary_covariance(1.5 * one, one), NumericalError);
}

LinearModel small_model() {
  LinearModel model;
  model.state_dim = 2;
  model.meas_dim = 1;
  model.F = {0.5, 0.25, 0, 1};
  model.Q = {4, 1, 1, 2};
  model.x0 = {10, -20};
  model.P0 = {1, -0.5, -0.5, 3};
  return model;
}

// Mean and covariance of the start, and of the step's disturbance, over many series.
TEST(LinearSystem, StartsAndMovesAsTheModelSays) {
  const LinearModel model = small_model();
  LinearSystem system({"a", "b"}, {0}, model);
  constexpr int kSeries = 40000;
  Eigen::Vector2d start_mean = Eigen::Vector2d::Zero(), step_mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d start_cov = Eigen::Matrix2d::Zero(), step_cov = Eigen::Matrix2d::Zero();
  for (int s = 0; s < kSeries; ++s) {
    RandomStream random(5, "linear system test", static_cast<std::uint64_t>(s));
    std::vector<double> x(2);
    system.start(random, x);
    const Eigen::Vector2d first(x[0] - 10, x[1] + 20);
    const Eigen::Vector2d expected(0.5 * x[0] + 0.25 * x[1], x[1]);
    system.advance(random, x);
    const Eigen::Vector2d w = Eigen::Vector2d(x[0], x[1]) - expected;
    start_mean += first / kSeries;
    start_cov += first * first.transpose() / kSeries;
    step_mean += w / kSeries;
    step_cov += w * w.transpose() / kSeries;
  }
  // Errors of the means: sqrt(4 / 40000) = 0.01 at most; of the covariances: 4 sqrt(2 / 40000).
  EXPECT_LT(start_mean.norm(), 0.04);
  EXPECT_LT(step_mean.norm(), 0.05);
  EXPECT_LT((start_cov - Eigen::Matrix2d{{1, -0.5}, {-0.5, 3}}).norm(), 0.1);
  EXPECT_LT((step_cov - Eigen::Matrix2d{{4, 1}, {1, 2}}).norm(), 0.12);
}

TEST(LinearSystem, NamesTheCovarianceThatIsNone) {
  LinearModel model = small_model();
  model.P0 = {1, 2, 2, 1};
  try {
    LinearSystem system({"a", "b"}, {0}, model);
    FAIL() << "no exception";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("P0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kalmia::simulation
