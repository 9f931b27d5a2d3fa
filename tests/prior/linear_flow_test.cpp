// The exact flow of linear systems and its noise: against Van Loan's block exponential, that parts
// of a step make up the whole, and the adjoint.
#include "prior/linear_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include "lanes/isa.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/gradient_check.hpp"
#include "support/reference.hpp"

namespace kalmia::prior {
namespace {

using test::fill;
using test::random_lower;
using test::random_matrix;
using test::TriangleLines;

constexpr int kLanes = Lines<double>::kLanes;
const char* const kNames[] = {"constant-position", "mean-reverting",        "constant-velocity",
                              "damped-velocity",   "constant-acceleration", "oscillator"};

// dx/dt = A x of each expert, by hand; `theta` has those of one channel.
Matrix matrix_of(const std::string& name, const std::vector<double>& theta) {
  if (name == "constant-position") return Matrix::Zero(1, 1);
  if (name == "mean-reverting") return Matrix{{-theta[0]}};
  if (name == "constant-velocity") return Matrix{{0, 1}, {0, 0}};
  if (name == "constant-acceleration") return Matrix{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
  if (name == "damped-velocity")
    return Matrix{{0, 1}, {-theta[0] * theta[1], -theta[0] - theta[1]}};
  return Matrix{{0, 1}, {-theta[0] * theta[0] - theta[1] * theta[1], -2 * theta[0]}};
}

// Two channels of an expert, evaluated with a density that correlates all states.
struct Flow {
  Expert expert;
  std::vector<double> theta;
  Lines<double> x, dt{1, 1}, F, e, Q;
  TriangleLines<double> L;
  Buffer<double> scratch;

  explicit Flow(const std::string& name)
      : expert(make_expert(test::named(name), {"a", "b"})),
        x(expert.state_dim(), 1),
        F(expert.state_dim(), expert.state_dim()),
        e(expert.state_dim(), 1),
        Q(expert.state_dim(), expert.state_dim()),
        L(expert.state_dim()),
        scratch(expert.map->scratch_size()) {
    RandomStream random(161, "density");
    for (std::size_t i = 0; i < expert.parameters.size(); ++i)
      theta.push_back(0.2 + 0.37 * static_cast<double>(i));
    for (int b = 0; b < kLanes; ++b) L.set_lower(b, random_lower(random, N()));
  }
  int N() const { return expert.state_dim(); }
  kalman::MapPoint at() const { return {x.data(), dt.data(), nullptr, theta.data()}; }
  const kalman::FlowMap& map() const { return *expert.map->as_flow(); }
  void run(double step) {
    for (int b = 0; b < kLanes; ++b) dt.set(b, Matrix::Constant(1, 1, step));
    run();
  }
  void run() {
    map().forward_with_noise(at(), L.data(), F.data(), e.data(), Q.data(), scratch.data());
  }
  Matrix A() const {
    const int size = N() / 2;
    const auto per_channel = static_cast<std::ptrdiff_t>(theta.size() / 2);
    Matrix result = Matrix::Zero(N(), N());
    for (int m = 0; m < 2; ++m)
      result.block(m * size, m * size, size, size) = matrix_of(
          expert.name, {theta.begin() + m * per_channel, theta.begin() + (m + 1) * per_channel});
    return result;
  }
  Matrix G(int b) const { return L.get_lower(b) * L.get_lower(b).transpose(); }
};

// The largest difference of covariances, in standard deviations of the second.
double difference(const Matrix& found, const Matrix& expected) {
  const Vector scale = expected.diagonal().cwiseSqrt().cwiseInverse();
  return (scale.asDiagonal() * (found - expected) * scale.asDiagonal()).cwiseAbs().maxCoeff();
}

TEST(LinearFlow, FlowAndNoiseAreThoseOfTheBlockExponential) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const char* name : kNames) {
      Flow flow(name);
      EXPECT_TRUE(flow.map().any_step());
      for (const double dt : {1e-3, 0.3, 1.0, 2.5, 9.0}) {
        flow.run(dt);
        for (const int b : {0, 5}) {
          SCOPED_TRACE(std::string(name) + ", step " + std::to_string(dt));
          const Matrix F = (flow.A() * dt).exp();
          EXPECT_LE((flow.F.get(b) - F).norm(), 1e-13 * F.norm());
          EXPECT_LE(difference(flow.Q.get(b), reference::flow_noise(flow.A(), flow.G(b), dt)),
                    1e-11);
          EXPECT_EQ(flow.Q.get(b), flow.Q.get(b).transpose());
          EXPECT_EQ(flow.e.get(b), Vector::Zero(flow.N()));
        }
      }
    }
  }
  lanes::use_best_isa();
}

// A step cut into parts, equal or not: F is their product and Q what they add up to.
TEST(LinearFlow, PartsOfAStepMakeUpTheWhole) {
  for (const char* name : kNames)
    for (const double whole : {0.4, 1.0, 37.0, 1000.0})
      for (const int parts : {2, 3, 100}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(whole) + " in " +
                     std::to_string(parts));
        Flow flow(name);
        Matrix F = Matrix::Identity(flow.N(), flow.N()), Q = Matrix::Zero(flow.N(), flow.N());
        RandomStream random(162, "parts");
        std::vector<double> cut(static_cast<std::size_t>(parts));
        double sum = 0;
        for (double& each : cut) sum += each = random.uniform(0.1, 1);
        for (const double each : cut) {
          flow.run(whole * each / sum);
          const Matrix step = flow.F.get(2);
          F = step * F;
          Q = step * Q * step.transpose() + flow.Q.get(2);
        }
        flow.run(whole);
        EXPECT_LE((flow.F.get(2) - F).norm(), 1e-10 * std::max(1.0, F.norm()));
        EXPECT_LE(difference(flow.Q.get(2), Q), 1e-10);
      }
}

// However long the step: the noise of a value that returns settles, that of one that wanders grows.
TEST(LinearFlow, HoldsForStepsOfAnyLength) {
  Flow returns("mean-reverting");
  returns.run(1e9);
  EXPECT_LE(returns.F.get(0).norm(), 1e-300);
  EXPECT_NEAR(returns.Q.at(0, 0, 0), returns.G(0)(0, 0) / (2 * returns.theta[0]), 1e-10);
  Flow wanders("constant-position");
  wanders.run(1e9);
  EXPECT_NEAR(wanders.Q.at(1, 1, 0) / 1e9, wanders.G(0)(1, 1), 1e-10);
  Flow swings("oscillator");
  for (double& damping : swings.theta) damping = &damping == &swings.theta[0] ? 1e-9 : damping;
  swings.run(1e6);
  EXPECT_TRUE(swings.Q.get(0).allFinite());
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(swings.Q.get(0)).eigenvalues()(0), 0);
}

TEST(LinearFlow, LanesStepByThemselves) {
  Flow flow("damped-velocity"), alone("damped-velocity");
  for (int b = 0; b < kLanes; ++b) flow.dt.set(b, Matrix::Constant(1, 1, 0.5 + 40.0 * b * b));
  flow.run();
  for (int b = 0; b < kLanes; ++b) {
    alone.run(0.5 + 40.0 * b * b);
    EXPECT_EQ(flow.F.get(b), alone.F.get(b));
    EXPECT_EQ(flow.Q.get(b), alone.Q.get(b));
  }
}

TEST(LinearFlow, AdjointMatchesCentralDifferences) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const char* name : kNames)
      for (const double longest : {0.4, 7.0}) {
        SCOPED_TRACE(std::string(name) + ", steps to " + std::to_string(longest));
        Flow flow(name);
        const int N = flow.N();
        RandomStream random(163, "weights");
        fill(flow.dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.1, longest)); });
        Lines<double> d_F(N, N), d_e(N, 1), d_Q(N, N), d_x(N, 1);
        Lines<double> d_theta(std::max<int>(1, static_cast<int>(flow.theta.size())), 1);
        TriangleLines<double> d_L(N);
        fill(d_F, [&] { return random_matrix(random, N, N); });
        fill(d_Q, [&] { return test::random_symmetric(random, N); });
        flow.map().backward_with_noise(flow.at(), flow.L.data(), d_F.data(), d_e.data(), d_Q.data(),
                                       d_L.data(), d_x.data(), d_theta.data(), flow.scratch.data());
        std::vector<double> gradient(flow.theta.size());
        for (std::size_t i = 0; i < gradient.size(); ++i)
          for (std::size_t b = 0; b < kLanes; ++b) gradient[i] += d_theta.span()[i * kLanes + b];
        const auto loss = [&] {
          flow.run();
          return test::weighted_sum(d_F.span(), flow.F.span()) +
                 test::weighted_sum(d_Q.span(), flow.Q.span());
        };
        test::check_gradient(
            loss, {{"L", flow.L.span(), d_L.span()}, {"theta", flow.theta, gradient}}, 164);
        for (const double each : d_x.span()) EXPECT_EQ(each, 0);
      }
  }
  lanes::use_best_isa();
}

}  // namespace
}  // namespace kalmia::prior
