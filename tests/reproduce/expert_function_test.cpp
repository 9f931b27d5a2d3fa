#include "reproduce/expert_function.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <unsupported/Eigen/MatrixFunctions>

#include "simulate/lorenz.hpp"

namespace kalmia::reproduction {
namespace {

constexpr double kLorenzStep = 0.05;
const std::array<double, 3> kPoint{-5.2, -7.1, 21.4};

NonlinearModel::Function lorenz_function(prior::FlowKind flow, int substeps) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::Lorenz;
  spec.integration.flow = flow;
  spec.integration.substeps = substeps;
  return expert_function(spec, {"a", "b", "c"}, kLorenzStep);
}
void lorenz_flow_map(int substeps, const std::array<double, 3>& x, std::array<double, 3>& value,
                     std::array<double, 9>& J) {
  lorenz_function(prior::FlowKind::Rk4, substeps)(x, 1, value, J);
}

TEST(ExpertFunction, TheFlowIsThatOfTheSimulator) {
  std::array<double, 3> truth = kPoint, value{};
  std::array<double, 9> J{};
  simulation::lorenz_flow(kLorenzStep, 1e-5, truth);
  lorenz_flow_map(20, kPoint, value, J);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(value[i], truth[i], 1e-8);
  // Fourth order: two substeps leave 10^4 times the error of twenty.
  lorenz_flow_map(2, kPoint, value, J);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(value[i], truth[i], 1e-3);
}

TEST(ExpertFunction, TheFlowsMatrixIsItsDerivative) {
  std::array<double, 3> value{}, above{}, below{};
  std::array<double, 9> J{}, unused{};
  lorenz_flow_map(2, kPoint, value, J);
  for (std::size_t j = 0; j < 3; ++j) {
    std::array<double, 3> moved = kPoint;
    const double h = 1e-5;
    moved[j] = kPoint[j] + h;
    lorenz_flow_map(2, moved, above, unused);
    moved[j] = kPoint[j] - h;
    lorenz_flow_map(2, moved, below, unused);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(J[i * 3 + j], (above[i] - below[i]) / (2 * h), 1e-8);
  }
}

TEST(ExpertFunction, TheFrozenMapIsTheSecondOrderSeriesOfTheExponential) {
  std::array<double, 3> value{};
  std::array<double, 9> F{};
  lorenz_function(prior::FlowKind::Frozen, 0)(kPoint, 1, value, F);
  Eigen::Matrix3d A;
  A << -10, 10, 0, 28 - kPoint[2], -1, 0, kPoint[1], 0, -8.0 / 3;
  A *= kLorenzStep;
  const Eigen::Matrix3d rest = A.exp() - Eigen::Matrix3d::Identity() - A - A * A / 2;
  const Eigen::Matrix3d third = A * A * A / 6;
  const Eigen::Matrix<double, 3, 3, Eigen::RowMajor> found =
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(F.data());
  const Eigen::Matrix3d difference = A.exp() - found;
  EXPECT_LT((difference - rest).norm(), 1e-12);
  EXPECT_LT((rest - third).norm(), 0.5 * third.norm());
  const Eigen::Vector3d moved = found * Eigen::Vector3d(kPoint.data());
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(value[static_cast<std::size_t>(i)], moved[i]);
}

}  // namespace
}  // namespace kalmia::reproduction
