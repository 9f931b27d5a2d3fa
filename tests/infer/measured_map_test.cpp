#include "infer/measured_map.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "infer/infer_cases.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// A state that is measured comes through without a bit changed, whatever units the model has.
TEST(MeasuredMap, SelectsStatesExactly) {
  const auto model = test::static_case(2).make<float>();
  const MeasuredMap map(*model);
  const double x[] = {1.0 / 3, 2.0 / 7, -1e9 / 3, 4};
  double y[2], H[8];
  map.at(x, y, H);
  EXPECT_EQ(y[0], x[0]);
  EXPECT_EQ(y[1], x[2]);
  const double expected[] = {1, 0, 0, 0, 0, 0, 1, 0};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(H[i], expected[i]) << i;
}

TEST(MeasuredMap, FollowsAnExpressionWithWhatWasLearned) {
  const auto model = test::pendulum_case().make<float>();
  model->set_theta({4, 2});
  const MeasuredMap map(*model);
  const double x[] = {0.7, -1.2}, P[] = {0.04, 0.01, 0.01, 0.09};
  double y[2], S[4];
  map.moments(x, P, y, S);
  EXPECT_NEAR(y[0], 2 * std::sin(0.7), 1e-15);
  EXPECT_EQ(y[1], -1.2);
  const double slope = 2 * std::cos(0.7);
  EXPECT_NEAR(S[0], slope * slope * 0.04, 1e-15);
  EXPECT_NEAR(S[1], slope * 0.01, 1e-15);
  EXPECT_EQ(S[1], S[2]);
  EXPECT_EQ(S[3], 0.09);
  // A state without a value spoils no channel that it has no part in.
  const double half[] = {kUnknown, 3};
  map.at(half, y, nullptr);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 3);
}

// y = b + c x: the offset is no part of H, but of what is measured.
TEST(MeasuredMap, KeepsOffsets) {
  test::LearnedCase made = test::pendulum_case();
  System& system = made.description.prior.system;
  system.measure = {{"across", "length + 3*angle"}};
  const auto model = made.make<float>();
  const MeasuredMap map(*model);
  const double x[] = {0.7, -1.2}, P[] = {0.04, 0.01, 0.01, 0.09};
  double y[2], S[4];
  map.moments(x, P, y, S);
  EXPECT_NEAR(y[0], 1.5 + 2.1, 1e-15);
  EXPECT_NEAR(S[0], 9 * 0.04, 1e-15);
}

TEST(Congruence, IsTheProductOfThree) {
  RowMatrix G = RowMatrix::Random(3, 4), half = RowMatrix::Random(4, 4);
  G(1, 2) = G(0, 0) = 0;
  const RowMatrix P = half * half.transpose(), expected = G * P * G.transpose();
  RowMatrix found(3, 3);
  congruence(3, 4, G.data(), P.data(), found.data());
  EXPECT_LT((found - expected).norm(), 1e-14 * expected.norm());
  EXPECT_EQ(found, RowMatrix(found.transpose()));
}

// The difference of two values that move as one: rounding gives no negative variance.
TEST(MeasuredMap, VariancesAreNotNegativeByRounding) {
  const double G[] = {1, -1}, P[] = {0.1, 0.1 + 2e-17, 0.1 + 2e-17, 0.1};
  double S = 7;
  ASSERT_LT(P[0] - P[1] - P[2] + P[3], 0);
  congruence(1, 2, G, P, &S);
  EXPECT_EQ(S, 0);
  // What is no rounding stays as it is, and is refused elsewhere.
  const double bad[] = {0.1, 0.2, 0.2, 0.1};
  congruence(1, 2, G, bad, &S);
  EXPECT_LT(S, -0.1);
}

}  // namespace
}  // namespace kalmia::infer
