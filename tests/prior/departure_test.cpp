#include "prior/departure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/gradient_check.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

// dx/dt = A(x) x with states a and b; b's rate depends on a b.
System rough() {
  System system;
  system.states = {"a", "b"};
  system.matrix = {{"-0.5", "1"}, {"b", "-0.25"}};
  system.measure = {{"y", "a"}};
  return system;
}

ExpertSpec cubic() {
  ExpertSpec spec = test::equations(rough(), 0.5);
  spec.degree = 3;
  spec.frame = {{0.5, -1}, {0.5, 0, 0.25, 2}, {0.1, 0.3}, 0.2};
  return spec;
}

// The map's value at x.
Vector next(const Expert& expert, const Point& at) {
  const LocalMap map = local_map(expert, at);
  return map.F * at.x + map.e;
}

std::size_t number_of(const Expert& expert, const std::string& name) {
  for (std::size_t i = 0; i < expert.parameters.size(); ++i)
    if (expert.parameters[i].name == name) return i;
  ADD_FAILURE() << name << " is none of the parameters";
  return 0;
}

TEST(Departure, AZeroPolynomialLeavesTheMapsValuesAndGivesItsTangent) {
  const Expert plain = make_expert(test::equations(rough()), {"y"}),
               expert = make_expert(cubic(), {"y"});
  EXPECT_EQ(expert.parameters.size(), 20u);
  const Point at{Vector{{0.7, -0.4}}, 0.3};
  EXPECT_LT((next(expert, at) - next(plain, at)).norm(), 1e-14);
  // The frozen matrix is no tangent; the departure's map has one.
  const LocalMap map = local_map(expert, at);
  const double h = 1e-6;
  for (int j = 0; j < 2; ++j) {
    Point up = at, down = at;
    up.x[j] += h;
    down.x[j] -= h;
    const Vector slope = (next(plain, up) - next(plain, down)) / (2 * h);
    EXPECT_LT((map.F.col(j) - slope).norm(), 1e-8) << j;
  }
  EXPECT_GT((map.F - local_map(plain, at).F).norm(), 0.01);
}

// By hand: z = 6 tanh(W (x - c) / 6), He2 = z^2 - 1, and so on.
TEST(Departure, TermsAreHermitesPolynomialsOfWhitenedStates) {
  const Expert plain = make_expert(test::equations(rough()), {"y"}),
               expert = make_expert(cubic(), {"y"});
  const Vector x{{0.7, -0.4}};
  const double z1 = 6 * std::tanh(0.5 * (0.7 - 0.5) / 6);
  const double z2 = 6 * std::tanh((0.25 * (0.7 - 0.5) + 2 * (-0.4 + 1)) / 6);
  const struct {
    const char* name;
    double value;
  } terms[] = {{"1", 1},
               {"z1", z1},
               {"z2^2", (z2 * z2 - 1) / std::sqrt(2)},
               {"z1*z2^2", z1 * (z2 * z2 - 1) / std::sqrt(2)},
               {"z1^3", (z1 * z1 * z1 - 3 * z1) / std::sqrt(6)}};
  for (const double dt : {0.2, 0.4}) {
    const Vector without = next(plain, {x, dt});
    for (const auto& term : terms) {
      SCOPED_TRACE(term.name);
      Vector theta = Vector::Zero(20);
      const auto i = number_of(expert, std::string("departure of b by ") + term.name);
      theta[static_cast<Eigen::Index>(i)] = 2;
      const Vector added = next(expert, {x, dt, Vector(0), theta}) - without;
      EXPECT_NEAR(added[0], 0, 1e-14);
      EXPECT_NEAR(added[1], 0.3 * dt / 0.2 * 2 * term.value, 1e-13);
    }
  }
}

TEST(Departure, FarFromEverythingItAddsNoMoreThanAtTheLimit) {
  const Expert plain = make_expert(test::equations(rough()), {"y"}),
               expert = make_expert(cubic(), {"y"});
  const Point far{Vector{{1e4, 1e4}}, 1e-3, Vector(0), Vector::Ones(20)};
  const Vector added = next(expert, far) - next(plain, {far.x, far.dt});
  EXPECT_TRUE(added.allFinite());
  EXPECT_LT(added.norm(), 10);
}

TEST(Departure, InvariantStatesAreNoVariables) {
  ExpertSpec spec = test::named("constant-velocity");
  spec.departure = 1;
  spec.degree = 2;
  spec.frame = {{0, 0}, {1, 0, 0, 1}, {1, 1}, 1};
  const Expert expert = make_expert(spec, {"y"});
  // Of the rate alone: 1, z, z^2, for both states.
  EXPECT_EQ(expert.parameters.size(), 6u);
  const Vector theta = Vector::Constant(6, 0.5);
  const Vector here = next(expert, {Vector{{0, 0.3}}, 1, Vector(0), theta});
  const Vector there = next(expert, {Vector{{100, 0.3}}, 1, Vector(0), theta});
  EXPECT_NEAR(there[0] - here[0], 100, 1e-12);
  EXPECT_NEAR(there[1], here[1], 1e-12);
}

TEST(Departure, Derivatives) {
  const Expert expert = make_expert(cubic(), {"y"});
  RandomStream random(31, "departure");
  Lines<double> x(2, 1), dt(1, 1), F(2, 2), e(2, 1), d_F(2, 2), d_e(2, 1), d_x(2, 1),
      d_theta(20, 1);
  test::fill(x, [&] { return test::random_matrix(random, 2, 1); });
  test::fill(dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.1, 0.4)); });
  test::fill(d_F, [&] { return test::random_matrix(random, 2, 2); });
  test::fill(d_e, [&] { return test::random_matrix(random, 2, 1); });
  std::vector<double> theta(20), gradient(20);
  for (double& each : theta) each = random.normal();
  const kalman::MapPoint at{x.data(), dt.data(), nullptr, theta.data()};
  Buffer<double> scratch(expert.map->scratch_size());
  expert.map->backward(at, d_F.data(), d_e.data(), d_x.data(), d_theta.data(), scratch.data());
  for (std::size_t i = 0; i < gradient.size() * Lines<double>::kLanes; ++i)
    gradient[i / Lines<double>::kLanes] += d_theta.span()[i];
  test::check_gradient(
      [&] {
        expert.map->forward(at, F.data(), e.data(), scratch.data());
        return test::weighted_sum(d_F.span(), F.span()) + test::weighted_sum(d_e.span(), e.span());
      },
      {{"x", x.span(), d_x.span()}, {"theta", theta, gradient}}, 32);
}

TEST(Departure, WhatCannotBeIsRefused) {
  const auto refused = [](const ExpertSpec& spec) {
    return message_of<ConfigError>([&] { make_expert(spec, {"y"}); });
  };
  ExpertSpec spec = cubic();
  spec.degree = 9;
  EXPECT_EQ(refused(spec), "degree = 9, but it must be in 1..8");
  spec = cubic();
  spec.frame.whitening.pop_back();
  EXPECT_NE(refused(spec).find("needs a frame"), std::string::npos);
  spec = cubic();
  spec.frame.dt = 0;
  EXPECT_NE(refused(spec).find("a usual time step above 0"), std::string::npos);
  spec = test::named("linear-motion");
  spec.departure = 1;
  spec.degree = 8;
  spec.frame = {std::vector<double>(6), std::vector<double>(36), std::vector<double>(6), 1};
  EXPECT_EQ(message_of<ConfigError>([&] {
              make_expert(spec, {"y1", "y2"});
            }),
            "degree = 8 makes more than 2000 coefficients for 6 states; choose a smaller one");
}

}  // namespace
}  // namespace kalmia::prior
