#include "train/variables.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/gradient_check.hpp"

namespace kalmia::train {
namespace {

using Kind = model::NoiseSpec::Kind;
using Matrix = Eigen::Matrix3d;

const std::vector<double> kFloor = {0.1, 0.02, 0, 0.02, 0.2, 0.01, 0, 0.01, 0.3};

std::vector<double> random_variables(int size, std::uint64_t seed) {
  RandomStream random(seed, "variables");
  std::vector<double> variables(static_cast<std::size_t>(size));
  for (double& v : variables) v = random.normal();
  return variables;
}

TEST(NoiseFactor, Sizes) {
  EXPECT_EQ(NoiseFactor(Kind::Given, 3, kFloor).size(), 0);
  EXPECT_EQ(NoiseFactor(Kind::LearnDiagonal, 3, kFloor).size(), 3);
  EXPECT_EQ(NoiseFactor(Kind::LearnFull, 3, kFloor).size(), 6);
  const NoiseFactor given(Kind::Given, 3, kFloor);
  EXPECT_TRUE(given.start(kFloor).empty());
  EXPECT_TRUE(given.gradient({}, kFloor).empty());
}

TEST(NoiseFactor, SymmetricPositiveDefiniteAndAboveTheFloor) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull}) {
    const NoiseFactor factor(kind, 3, kFloor);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::vector<double> variables = random_variables(factor.size(), seed);
      if (seed > 10)
        for (double& v : variables) v = v * 10 - 20;
      const std::vector<double> value = factor.value(variables);
      const Matrix R = Eigen::Map<const Matrix>(value.data());
      Matrix floor = Eigen::Map<const Matrix>(kFloor.data());
      if (kind == Kind::LearnDiagonal) floor = Matrix(floor.diagonal().asDiagonal());
      EXPECT_EQ(R, R.transpose());
      const Eigen::SelfAdjointEigenSolver<Matrix> above(R - floor);
      EXPECT_GE(above.eigenvalues()[0], -1e-12 * R.norm());
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(R).eigenvalues()[0], 0.05);
      EXPECT_TRUE(kind == Kind::LearnFull || R.isDiagonal(0));
    }
  }
}

TEST(NoiseFactor, StartInvertsValue) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull}) {
    const NoiseFactor factor(kind, 3, kFloor);
    const std::vector<double> variables = random_variables(factor.size(), 3);
    const std::vector<double> again = factor.start(factor.value(variables));
    for (std::size_t i = 0; i < variables.size(); ++i) EXPECT_NEAR(again[i], variables[i], 1e-12);
  }
}

TEST(NoiseFactor, StartBelowTheFloorIsNearIt) {
  const std::vector<double> low = {0.01, 0, 0, 0, 0.2, 0, 0, 0, 3};
  const NoiseFactor factor(Kind::LearnDiagonal, 3, kFloor);
  const std::vector<double> R = factor.value(factor.start(low));
  EXPECT_NEAR(R[0], 0.11, 1e-12);
  EXPECT_NEAR(R[4], 0.22, 1e-12);
  EXPECT_NEAR(R[8], 3, 1e-12);
}

TEST(NoiseFactor, StartKeepsTheCorrelationThatFits) {
  // Less the floor this is no covariance.
  const std::vector<double> close = {0.2, 0.28, 0, 0.28, 0.4, 0, 0, 0, 3};
  const NoiseFactor factor(Kind::LearnFull, 3, kFloor);
  const std::vector<double> R = factor.value(factor.start(close));
  EXPECT_NEAR(R[0], 0.2, 1e-12);
  EXPECT_NEAR(R[4], 0.4, 1e-12);
  EXPECT_GT(R[1], 0.05);
  EXPECT_LT(R[1], 0.28);
}

TEST(NoiseFactor, LeavesTheFloor) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull}) {
    const NoiseFactor factor(kind, 3, kFloor);
    std::vector<double> variables = factor.start(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
    const std::vector<double> before = variables;
    EXPECT_FALSE(factor.leave_floor(variables));
    EXPECT_EQ(variables, before);
    const std::size_t second = kind == Kind::LearnFull ? 2 : 1;
    variables[second] = -20;
    EXPECT_NEAR(factor.value(variables)[4], 0.2, 1e-3);
    EXPECT_TRUE(factor.leave_floor(variables));
    EXPECT_NEAR(factor.value(variables)[4], 0.3, 1e-3);
    variables[second] = before[second];
    EXPECT_EQ(variables, before);
  }
}

TEST(NoiseFactor, Gradient) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull}) {
    const NoiseFactor factor(kind, 3, kFloor);
    std::vector<double> variables = random_variables(factor.size(), 5);
    // A loss with this gradient by R, symmetric as the engine's.
    const std::vector<double> d_R = {0.3, -0.7, 0.2, -0.7, 1.1, 0.4, 0.2, 0.4, -0.6};
    const std::vector<double> gradient = factor.gradient(variables, d_R);
    test::check_gradient([&] { return test::weighted_sum(d_R, factor.value(variables)); },
                         {{"variables", variables, gradient}}, 1);
  }
}

}  // namespace
}  // namespace kalmia::train
