// The named experts that hold in any unit: their matrices, and that two halves of a step are one.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/expert.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::prior {
namespace {

Expert expert_of(const std::string& name, int order = 0) {
  return make_expert(test::named(name, order), {"a", "b"});
}

// Parameters away from where learning starts.
Vector some_theta(const Expert& expert) {
  Vector theta(static_cast<Eigen::Index>(expert.parameters.size()));
  for (Eigen::Index i = 0; i < theta.size(); ++i) theta(i) = 0.2 + 0.17 * static_cast<double>(i);
  return theta;
}

Matrix F_at(const Expert& expert, double dt, const Vector& theta) {
  const Vector x = Vector::LinSpaced(expert.state_dim(), -1, 2);
  const LocalMap map = local_map(expert, {x, dt, Vector(0), theta});
  EXPECT_EQ(map.e, Vector::Zero(expert.state_dim())) << expert.name;
  return map.F;
}

TEST(MotionExperts, TwoHalvesOfAStepAreOne) {
  for (const char* name : {"constant-position", "constant-velocity", "constant-acceleration",
                           "oscillator", "mean-reverting", "damped-velocity"}) {
    const Expert expert = expert_of(name);
    const Vector theta = some_theta(expert);
    const Matrix half = F_at(expert, 0.5, theta), whole = F_at(expert, 1, theta);
    EXPECT_LE((half * half - whole).norm(), 1e-15 * whole.norm() * 4) << name;
    EXPECT_LE(
        (F_at(expert, 0.3, theta) * F_at(expert, 2.2, theta) - F_at(expert, 2.5, theta)).norm(),
        1e-14)
        << name;
    if (std::string(name) != "constant-position") {
      EXPECT_GT((half - whole).norm(), 0.01) << name;
    }
  }
}

// exp(dt [0, 1; -a b, -(a + b)]): the rate is the derivative of the value, with two paces.
TEST(MotionExperts, DampedVelocityIsTheExactFlow) {
  const Expert expert = expert_of("damped-velocity");
  ASSERT_EQ(expert.parameters.size(), 4u);
  EXPECT_EQ(expert.parameters[0].name, "damping of a");
  EXPECT_EQ(expert.parameters[1].name, "damping of a_rate");
  const Vector theta{{0.1, 0.8, 0.4, 0.4}};
  for (const double dt : {0.25, 1.0, 3.0}) {
    const Matrix F = F_at(expert, dt, theta);
    for (int m = 0; m < 2; ++m) {
      const double a = theta(2 * m), b = theta(2 * m + 1);
      const Matrix A{{0, 1}, {-a * b, -(a + b)}};
      EXPECT_LE((F.block(2 * m, 2 * m, 2, 2) - taylor_series(A, dt, 60)).norm(), 1e-13) << dt;
      // d value / dt = rate.
      const double h = 1e-6;
      const Vector ahead = F_at(expert, h, theta).row(2 * m);
      EXPECT_NEAR(ahead(2 * m + 1) / h, 1, 1e-5);
    }
  }
}

// What a departure is added to is the same flow, as expressions.
TEST(MotionExperts, ADepartureOfZeroLeavesTheFlow) {
  for (const char* name : {"constant-position", "constant-velocity", "constant-acceleration",
                           "oscillator", "mean-reverting", "damped-velocity"}) {
    const Expert exact = expert_of(name);
    ExpertSpec spec = test::named(name);
    spec.departure = 1;
    const Expert departed = make_expert(spec, {"a", "b"});
    Vector theta = some_theta(exact), all = Vector::Zero(departed.map->parameter_count());
    all.head(theta.size()) = theta;
    for (const double dt : {0.5, 1.0, 1.4})
      EXPECT_LE((F_at(exact, dt, theta) - F_at(departed, dt, all)).norm(), 1e-13) << name;
    EXPECT_NE(exact.map->as_flow(), nullptr) << name;
    EXPECT_EQ(departed.map->as_flow(), nullptr) << name;
  }
}

TEST(MotionExperts, MatricesByHand) {
  EXPECT_EQ(F_at(expert_of("constant-position"), 0.7, Vector(0)), Matrix::Identity(2, 2));
  const Matrix velocity = F_at(expert_of("constant-velocity"), 0.5, Vector(0));
  EXPECT_EQ(velocity, (Matrix{{1, 0.5, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0.5}, {0, 0, 0, 1}}));
  const Matrix acceleration = F_at(expert_of("constant-acceleration"), 0.5, Vector(0));
  Matrix expected = Matrix::Zero(6, 6);
  expected.block(0, 0, 3, 3) = expected.block(3, 3, 3, 3) =
      Matrix{{1, 0.5, 0.125}, {0, 1, 0.5}, {0, 0, 1}};
  EXPECT_EQ(acceleration, expected);
  const Matrix mean = F_at(expert_of("mean-reverting"), 0.5, Vector{{0.2, 3}});
  EXPECT_LE((mean - Matrix{{std::exp(-0.1), 0}, {0, std::exp(-1.5)}}).norm(), 1e-14);
  EXPECT_EQ(F_at(expert_of("none"), 0.5, Vector(0)), Matrix::Zero(2, 2));
}

// exp(dt [0, 1; -(a^2 + w^2), -2 a]).
TEST(MotionExperts, OscillatorIsTheExactFlow) {
  const Expert expert = expert_of("oscillator");
  const std::vector<std::string> names = {"damping of a", "frequency of a", "damping of b",
                                          "frequency of b"};
  ASSERT_EQ(expert.parameters.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(expert.parameters[i].name, names[i]);
    EXPECT_TRUE(expert.parameters[i].learn);
    EXPECT_EQ(expert.parameters[i].lower, 0);
    EXPECT_GT(expert.parameters[i].value, 0);
  }
  const Vector theta{{0.1, 0.8, 0.4, 2.5}};
  for (const double dt : {0.25, 1.0, 3.0}) {
    const Matrix F = F_at(expert, dt, theta);
    for (int m = 0; m < 2; ++m) {
      const double a = theta(2 * m), w = theta(2 * m + 1);
      const Matrix A{{0, 1}, {-(a * a + w * w), -2 * a}};
      EXPECT_LE((F.block(2 * m, 2 * m, 2, 2) - taylor_series(A, dt, 60)).norm(), 1e-10) << dt;
      EXPECT_EQ(F.block(2 * m, 2 - 2 * m, 2, 2), Matrix::Zero(2, 2));
    }
  }
}

TEST(MotionExperts, AutoregressionShiftsItsLags) {
  const Expert expert = expert_of("ar", 3);
  EXPECT_EQ(expert.state_names,
            (std::vector<std::string>{"a", "a_lag1", "a_lag2", "b", "b_lag1", "b_lag2"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 3}));
  for (const StateKind& state : expert.states) EXPECT_EQ(state.derivative, 0);
  ASSERT_EQ(expert.parameters.size(), 6u);
  EXPECT_EQ(expert.parameters[0].name, "lag 1 of a");
  EXPECT_EQ(expert.parameters[5].name, "lag 3 of b");
  Matrix expected = Matrix::Zero(6, 6);
  expected.block(0, 0, 3, 3) = Matrix{{1, 2, 3}, {1, 0, 0}, {0, 1, 0}};
  expected.block(3, 3, 3, 3) = Matrix{{4, 5, 6}, {1, 0, 0}, {0, 1, 0}};
  EXPECT_EQ(F_at(expert, 1, Vector{{1, 2, 3, 4, 5, 6}}), expected);
  EXPECT_EQ(expert_of("ar").state_dim(), 4);
}

TEST(MotionExperts, HoldInAnyUnit) {
  for (const char* name : {"none", "constant-position", "mean-reverting", "constant-velocity",
                           "damped-velocity", "constant-acceleration", "oscillator", "ar"}) {
    const Expert expert = expert_of(name);
    EXPECT_FALSE(expert.physical) << name;
    EXPECT_EQ(expert.emission, nullptr) << name;
    EXPECT_TRUE(expert.initial.empty()) << name;
    EXPECT_EQ(expert.map->input_dim(), 0) << name;
  }
}

}  // namespace
}  // namespace kalmia::prior
