#include "simulate/random_linear.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "kalmia/simulate.hpp"

namespace kalmia::simulation {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::MatrixXd matrix(const std::vector<double>& values, int rows, int cols) {
  return Eigen::Map<const RowMajor>(values.data(), rows, cols);
}

TEST(RandomLinear, IsStableAndScaled) {
  for (const int n : {1, 2, 5, 12})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const LinearModel model = random_linear_model(n, 1, 0.5, seed);
      const Eigen::MatrixXd F = matrix(model.F, n, n), Q = matrix(model.Q, n, n),
                            P = matrix(model.P0, n, n);
      EXPECT_NEAR(F.eigenvalues().cwiseAbs().maxCoeff(), kRandomLinearRadius, 1e-9);
      EXPECT_LT((P - F * P * F.transpose() - Q).norm(), 1e-11);
      EXPECT_LT((P.diagonal() - Eigen::VectorXd::Ones(n)).norm(), 1e-12);
      EXPECT_EQ(Q.llt().info(), Eigen::Success);
    }
}

TEST(RandomLinear, MeasuresTheFirstStates) {
  const LinearModel model = random_linear_model(4, 3, 0.2, 1);
  EXPECT_EQ(model.H, (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}));
  for (int i = 0; i < 9; ++i)
    EXPECT_DOUBLE_EQ(model.R[static_cast<std::size_t>(i)], i % 4 == 0 ? 0.04 : 0);
}

// The simulated states have the covariance that solves the Lyapunov equation, from the first step
// on (over series) and in the long run (over time).
TEST(RandomLinear, HasTheStationaryCovariance) {
  SimulateOptions options;
  options.states = 3;
  options.measured = 1;
  options.seed = 7;
  const Eigen::MatrixXd P = matrix(random_linear_model(3, 1, 0.5, 7).P0, 3, 3);
  const auto covariance = [](const Dataset& data) {
    Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
    double count = 0;
    for (const Series& series : data.series)
      for (std::size_t k = 0; k < series.x.size() / 3; ++k) {
        const Eigen::Map<const Eigen::Vector3d> x(series.x.data() + 3 * k);
        sum += x * x.transpose();
        count += 1;
      }
    return Eigen::Matrix3d(sum / count);
  };
  options.steps = 1;
  options.series = 20000;
  EXPECT_LT((covariance(kalmia::simulate("random-linear", options)) - P).norm(), 0.06);
  options.steps = 200000;
  options.series = 1;
  EXPECT_LT((covariance(kalmia::simulate("random-linear", options)) - P).norm(), 0.1);
}

// The steps' disturbances: x[k] - F x[k-1] is white and has covariance Q.
TEST(RandomLinear, StepsFollowTheModel) {
  SimulateOptions options;
  options.states = 2;
  options.measured = 1;
  options.steps = 50000;
  const LinearModel model = random_linear_model(2, 1, 0.5, options.seed);
  const Eigen::MatrixXd F = matrix(model.F, 2, 2), Q = matrix(model.Q, 2, 2);
  const Dataset data = kalmia::simulate("random-linear", options);
  Eigen::Matrix2d same = Eigen::Matrix2d::Zero(), lagged = same;
  Eigen::Vector2d before = Eigen::Vector2d::Zero();
  for (std::size_t k = 1; k < 50000; ++k) {
    const Eigen::Map<const Eigen::Vector2d> x(data.series[0].x.data() + 2 * k);
    const Eigen::Map<const Eigen::Vector2d> last(data.series[0].x.data() + 2 * (k - 1));
    const Eigen::Vector2d w = x - F * last;
    same += w * w.transpose() / 50000;
    lagged += w * before.transpose() / 50000;
    before = w;
  }
  EXPECT_LT((same - Q).norm(), 0.03 * Q.norm());
  EXPECT_LT(lagged.norm(), 0.03 * Q.norm());
}

}  // namespace
}  // namespace kalmia::simulation
