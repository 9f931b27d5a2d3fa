// The named experts in the user's units, by each way from equations to the map of a step.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

const std::vector<std::string> kThree = {"x", "y", "z"}, kTwo = {"x", "y"};

Vector lorenz(const Vector& x) {
  return Vector{{10 * (x(1) - x(0)), x(0) * (28 - x(2)) - x(1), x(0) * x(1) - 8.0 / 3 * x(2)}};
}
Matrix lorenz_matrix(const Vector& x) {
  return Matrix{{-10, 10, 0}, {28 - x(2), -1, 0}, {x(1), 0, -8.0 / 3}};
}
Matrix lorenz_jacobian(const Vector& x) {
  return Matrix{{-10, 10, 0}, {28 - x(2), -1, -x(0)}, {x(1), x(0), -8.0 / 3}};
}

const Point kAt{Vector{{1.5, -2, 20}}, 0.02};

// F is the tangent of `flow`, and F x + e the flow.
void expect_tangent(const LocalMap& map, const auto& flow, const Vector& x, double tolerance) {
  EXPECT_LE((map.F * x + map.e - flow(x)).norm(), 1e-13 * x.norm());
  for (int j = 0; j < x.size(); ++j) {
    const Vector step = 1e-5 * Vector::Unit(x.size(), j);
    EXPECT_LE((map.F.col(j) - (flow(x + step) - flow(x - step)) / 2e-5).norm(), tolerance) << j;
  }
}

TEST(PhysicalExperts, LorenzFrozen) {
  EXPECT_LE((lorenz_matrix(kAt.x) * kAt.x - lorenz(kAt.x)).norm(), 1e-14);
  for (const int order : {0, 1, 2, 4})
    for (const char* flow : {"", "frozen"}) {
      const LocalMap map = local_map(make_expert(test::named("lorenz", order, flow), kThree), kAt);
      EXPECT_LE(
          (map.F - taylor_series(lorenz_matrix(kAt.x), kAt.dt, order == 0 ? 2 : order)).norm(),
          1e-14);
      EXPECT_EQ(map.e, Vector::Zero(3));
    }
}

TEST(PhysicalExperts, LorenzTaylor) {
  const LocalMap map = local_map(make_expert(test::named("lorenz", 0, "taylor"), kThree), kAt);
  const auto second = [](const Vector& x) -> Vector {
    return x + kAt.dt * lorenz(x) + kAt.dt * kAt.dt / 2 * lorenz_jacobian(x) * lorenz(x);
  };
  expect_tangent(map, second, kAt.x, 1e-7);
  // More terms come nearer to the flow.
  double before = (second(kAt.x) - rk4_steps(lorenz, kAt.x, kAt.dt, 100)).norm();
  for (const int order : {3, 4, 5, 6}) {
    const LocalMap more =
        local_map(make_expert(test::named("lorenz", order, "taylor"), kThree), kAt);
    const double error = (more.F * kAt.x + more.e - rk4_steps(lorenz, kAt.x, kAt.dt, 100)).norm();
    EXPECT_LT(error, 0.5 * before) << order;
    before = error;
  }
  EXPECT_LT(before, 1e-6);
}

TEST(PhysicalExperts, LorenzRungeKutta) {
  for (const int substeps : {0, 1, 3}) {
    const LocalMap map =
        local_map(make_expert(test::named("lorenz", 0, "rk4", substeps), kThree), kAt);
    expect_tangent(
        map, [&](const Vector& x) { return rk4_steps(lorenz, x, kAt.dt, std::max(substeps, 1)); },
        kAt.x, 1e-7);
  }
}

// The frozen matrix leaves the derivative of A out, the tangent does not.
TEST(PhysicalExperts, LorenzTangentIsNotTheFrozenMatrix) {
  const LocalMap frozen = local_map(make_expert(test::named("lorenz"), kThree), kAt);
  const LocalMap rk4 = local_map(make_expert(test::named("lorenz", 0, "rk4"), kThree), kAt);
  EXPECT_LT(rk4.F(1, 2), -0.02);  // about -dt x1
  EXPECT_LT(std::abs(frozen.F(1, 2)), 1e-15);
  EXPECT_GT(rk4.e.norm(), 0.1);
}

TEST(PhysicalExperts, LinearMotionOfHighOrderIsTheExponential) {
  const double dt = 0.5;
  const Matrix A{{0, 1, 0}, {0, -0.06, 1}, {0, -0.17, 0}};
  Matrix expected = Matrix::Zero(6, 6);
  expected.block(0, 0, 3, 3) = expected.block(3, 3, 3, 3) = taylor_series(A, dt, 40);
  const Point at{Vector::LinSpaced(6, -1, 3), dt};
  for (const char* flow : {"frozen", "taylor"}) {
    const LocalMap map = local_map(make_expert(test::named("linear-motion", 12, flow), kTwo), at);
    EXPECT_LE((map.F - expected).norm(), 1e-14) << flow;
    EXPECT_EQ(map.e, Vector::Zero(6)) << flow;
  }
  const LocalMap fine =
      local_map(make_expert(test::named("linear-motion", 0, "rk4", 20), kTwo), at);
  EXPECT_LE((fine.F - expected).norm(), 1e-9);
  EXPECT_EQ(fine.e, Vector::Zero(6));
}

// A turn at a constant rate is a rotation of the velocity.
TEST(PhysicalExperts, CoordinatedTurn) {
  const Expert expert = make_expert(test::named("coordinated-turn"), {"east", "north"});
  EXPECT_TRUE(expert.physical);
  EXPECT_EQ(expert.state_names,
            (std::vector<std::string>{"east", "east_rate", "north", "north_rate", "turn_rate"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 2}));
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(expert.states[4].channel, -1);
  EXPECT_TRUE(expert.parameters.empty() && expert.unused.empty() && expert.emission == nullptr);
  ASSERT_EQ(expert.initial.size(), 1u);
  EXPECT_EQ(expert.initial[0].name, "turn_rate");
  const Point at{Vector{{10, 3, -5, 4, 0.3}}, 0.2};
  const auto slope = [](const Vector& x) {
    return Vector{{x(1), -x(4) * x(3), x(3), x(4) * x(1), 0}};
  };
  const LocalMap map = local_map(expert, at);
  expect_tangent(
      map, [&](const Vector& x) { return rk4_steps(slope, x, at.dt, 20); }, at.x, 1e-7);
  const double angle = 0.3 * 0.2, c = std::cos(angle), s = std::sin(angle);
  const Vector turned{{10 + (3 * s - 4 * (1 - c)) / 0.3, 3 * c - 4 * s,
                       -5 + (4 * s + 3 * (1 - c)) / 0.3, 4 * c + 3 * s, 0.3}};
  EXPECT_LE((map.F * at.x + map.e - turned).norm(), 1e-9);
  // Straight on where the rate is 0, and there is a map even so.
  const LocalMap straight = local_map(expert, {Vector{{10, 3, -5, 4, 0}}, 0.2});
  EXPECT_TRUE(straight.F.allFinite());
  EXPECT_NEAR((straight.F * Vector{{10, 3, -5, 4, 0}} + straight.e)(0), 10.6, 1e-14);
}

// However fast it turns, no step makes it faster: a gap of many steps leaves the speed as it was.
TEST(PhysicalExperts, ACoordinatedTurnKeepsTheSpeed) {
  const Expert expert = make_expert(test::named("coordinated-turn"), {"east", "north"});
  for (const double rate : {-40.0, -2.9, -1e-9, 0.0, 1e-3, 3.1, 6.5}) {
    Point at{Vector{{10, 3, -5, 4, rate}}, 1.0};
    for (int k = 0; k < 500; ++k) {
      const LocalMap map = local_map(expert, at);
      ASSERT_TRUE(map.F.allFinite()) << rate;
      at.x = Vector(map.F * at.x + map.e);
    }
    EXPECT_NEAR(std::hypot(at.x(1), at.x(3)), 5, 1e-9) << rate;
    EXPECT_LE(std::hypot(at.x(0) - 10, at.x(2) + 5), 500 * 5 + 1e-6) << rate;
  }
}

// Channels are called as the data's columns are, also where no expression could hold the name.
TEST(PhysicalExperts, StatesAreCalledAfterTheColumns) {
  const std::vector<std::string> columns = {"height [m]", "2nd"};
  const Expert motion = make_expert(test::named("linear-motion"), columns);
  EXPECT_EQ(motion.state_names,
            (std::vector<std::string>{"height [m]", "height [m]_rate", "height [m]_acceleration",
                                      "2nd", "2nd_rate", "2nd_acceleration"}));
  EXPECT_EQ(motion.measured_state, (std::vector<int>{0, 3}));
  const Expert turn = make_expert(test::named("coordinated-turn"), columns);
  EXPECT_EQ(turn.state_names, (std::vector<std::string>{"height [m]", "height [m]_rate", "2nd",
                                                        "2nd_rate", "turn_rate"}));
  const auto kinds = [](const Expert& expert) {
    std::vector<std::pair<int, int>> all;
    for (const StateKind& each : expert.states) all.emplace_back(each.channel, each.derivative);
    return all;
  };
  using Kinds = std::vector<std::pair<int, int>>;
  EXPECT_EQ(kinds(motion), (Kinds{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(kinds(turn), (Kinds{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {-1, 1}}));
  EXPECT_EQ(kinds(make_expert(test::named("lorenz"), {"c", "y1", "a"})),
            (Kinds{{0, 0}, {1, 0}, {2, 0}}));
}

// To the bit: a user who writes the equations gets the same map. Nothing is learned of either.
TEST(PhysicalExperts, AreWhatAUserWouldWrite) {
  System s;
  s.states = kThree;
  s.matrix = {{"-10", "10", "0"}, {"28 - z", "-1", "0"}, {"y", "0", "-8/3"}};
  for (const char* flow : {"frozen", "taylor", "rk4"}) {
    s.integration.flow = flow;
    s.integration.order = 3;
    s.integration.substeps = 2;
    const Expert named = make_expert(test::named("lorenz", 3, flow, 2), kThree);
    const Expert own = make_expert(test::equations(s), kThree);
    const LocalMap a = local_map(named, kAt), b = local_map(own, kAt);
    EXPECT_EQ(a.F, b.F) << flow;
    EXPECT_EQ(a.e, b.e) << flow;
    EXPECT_TRUE(named.parameters.empty() && named.unused.empty() && named.emission == nullptr);
    EXPECT_EQ(named.linear, own.linear);
    EXPECT_EQ(named.H, own.H);
  }
}

TEST(PhysicalExperts, TheListSaysWhichAreIntegrated) {
  EXPECT_EQ(integrated_priors(),
            (std::vector<PriorKind>{PriorKind::Lorenz, PriorKind::LinearMotion}));
}

TEST(PhysicalExperts, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(message_of<ConfigError>([] { make_expert(test::named("lorenz", 0, "euler"), kThree); }),
            "flow = \"euler\", but it must be frozen, taylor or rk4");
  EXPECT_EQ(message_of<ConfigError>([] { make_expert(test::named("coordinated-turn"), kThree); }),
            "prior coordinated-turn has 2 measured channels, but the data have 3; name the columns "
            "with measure");
  EXPECT_EQ(
      message_of<ConfigError>([] { make_expert(test::named("lorenz", 0, "rk4", 101), kThree); }),
      "substeps = 101, but it must be in 0..100");
}

}  // namespace
}  // namespace kalmia::prior
