#include "infer/step_factors.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "model/learned_cases.hpp"

namespace kalmia::infer {
namespace {

TEST(StepFactors, StatesFollowTheirChannels) {
  EXPECT_EQ(channels_of_states(*test::static_case(2).make<float>()),
            (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(channels_of_states(*test::sum_case("memory(4) + season(6, 1)", 2).make<float>()),
            (std::vector<int>{0, 0, 0, 1, 1, 1}));
  // What a nonlinear emission shows belongs to no channel.
  EXPECT_EQ(channels_of_states(*test::pendulum_case().make<float>()), (std::vector<int>{-1, -1}));
}

TEST(StepFactors, ScaleStatesOfEachChannelByItsOwn) {
  const auto model = test::static_case(2).make<float>();
  model::DistanceFactors factors;
  factors.steps = {1, 7};
  factors.factors = {{4, 64}, {9, 1}};
  StepFactors step(*model, factors);
  step.set(std::vector<double>{3, 50});  // the first halfway between its knots
  const double root[] = {4, 4, 1, 1};
  std::vector<double> C(16), V(16);
  RandomStream random(2, "covariance");
  for (double& each : C) each = random.normal();
  for (double& each : V) each = random.normal();
  std::vector<double> found = C, alone = C;
  step.scale_states(V, found);
  step.scale_states({}, alone);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t n = 4 * i + j;
      EXPECT_NEAR(found[n], root[i] * root[j] * (C[n] - V[n]) + V[n], 1e-12);
      EXPECT_NEAR(alone[n], root[i] * root[j] * C[n], 1e-12);
    }
  std::vector<double> S = {3, 1, 1, 2};
  step.scale_measured(std::vector<double>{1, 0.5, 0.5, 1}, S);
  EXPECT_NEAR(S[0], 16 * 2 + 1, 1e-12);
  EXPECT_NEAR(S[1], 4 * 0.5 + 0.5, 1e-12);
  EXPECT_NEAR(S[3], 2, 1e-12);
}

// Where states have no channel, all are scaled by the geometric mean.
TEST(StepFactors, OfNoChannelTakeTheMean) {
  const auto model = test::pendulum_case().make<float>();
  const auto M = static_cast<std::size_t>(model->meas_dim());
  model::DistanceFactors factors;
  factors.steps = {1, 7};
  factors.factors = {{4, 64}};
  StepFactors step(*model, factors);
  std::vector<double> distances(M, 1);
  distances[0] = 7;
  step.set(distances);
  const double mean = std::exp((std::log(64.0) + (double(M) - 1) * std::log(4.0)) / double(M));
  std::vector<double> C = {2, 0.5, 0.5, 1};
  step.scale_states({}, C);
  EXPECT_NEAR(C[0], 2 * mean, 1e-12 * mean);
  EXPECT_NEAR(C[1], 0.5 * mean, 1e-12 * mean);
  std::vector<double> S(M * M, 1);
  step.scale_measured({}, S);
  for (const double each : S) EXPECT_NEAR(each, mean, 1e-12 * mean);
}

}  // namespace
}  // namespace kalmia::infer
