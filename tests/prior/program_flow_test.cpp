// Noise along the flow of equations: against the integral in small steps, the order of its error,
// and the adjoint.
#include "prior/program_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lanes/isa.hpp"
#include "prior/prior_cases.hpp"
#include "support/gradient_check.hpp"

namespace kalmia::prior {
namespace {

using test::fill;
using test::random_lower;
using test::random_matrix;
using test::TriangleLines;

constexpr int kFlowLanes = Lines<double>::kLanes;

struct PendulumFlow {
  DrivenPendulum pendulum;
  FlowNodes nodes;
  ProgramFlowMap map;
  Lines<double> x{2, 1}, dt{1, 1}, u{2, 1}, F{2, 2}, e{2, 1}, Q{2, 2};
  TriangleLines<double> L{2};
  std::vector<double> theta = {2.5, 0.35};
  Buffer<double> scratch;

  explicit PendulumFlow(int substeps)
      : nodes(noisy_rk4_flow(pendulum.graph, pendulum.symbols, pendulum.f, substeps)),
        map(pendulum.graph, pendulum.symbols, nodes.map, nodes.noise),
        scratch(map.scratch_size()) {
    RandomStream random(171, "points");
    fill(x, [&] { return random_matrix(random, 2, 1); });
    fill(dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.05, 0.6)); });
    fill(u, [&] { return random_matrix(random, 2, 1); });
    for (int b = 0; b < kFlowLanes; ++b) L.set_lower(b, random_lower(random, 2));
  }
  kalman::MapPoint at() const { return {x.data(), dt.data(), u.data(), theta.data()}; }
  void run() {
    map.forward_with_noise(at(), L.data(), F.data(), e.data(), Q.data(), scratch.data());
  }
  Point point(int lane) const {
    return {x.get(lane), dt.get(lane)(0), u.get(lane), Eigen::Map<const Vector>(theta.data(), 2)};
  }
};

// dP/dt = J P + P J' + G along the path, in a thousand steps.
Matrix integrated_noise(Point at, const Matrix& G) {
  constexpr int kSteps = 1000;
  const double h = at.dt / kSteps;
  Matrix P = Matrix::Zero(2, 2);
  for (int i = 0; i < kSteps; ++i) {
    const auto slope = [&](const Vector& x) { return DrivenPendulum::slope(at, x); };
    const Matrix J0 = DrivenPendulum::jacobian(at);
    const Vector middle = rk4_step(slope, at.x, h / 2), end = rk4_step(slope, at.x, h);
    Point half = at, whole = at;
    half.x = middle;
    whole.x = end;
    const Matrix J1 = DrivenPendulum::jacobian(half), J2 = DrivenPendulum::jacobian(whole);
    const auto f = [&](const Matrix& J, const Matrix& at_P) -> Matrix {
      return J * at_P + at_P * J.transpose() + G;
    };
    const Matrix k1 = f(J0, P), k2 = f(J1, P + h / 2 * k1), k3 = f(J1, P + h / 2 * k2),
                 k4 = f(J2, P + h * k3);
    P += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    at.x = end;
  }
  return P;
}

TEST(ProgramFlow, NoiseIsTheIntegralAlongTheFlow) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    PendulumFlow flow(16);
    flow.run();
    for (int b = 0; b < kFlowLanes; ++b) {
      const Matrix G = flow.L.get_lower(b) * flow.L.get_lower(b).transpose();
      const Matrix expected = integrated_noise(flow.point(b), G);
      EXPECT_LE((flow.Q.get(b) - expected).norm(), 1e-6 * expected.norm()) << "lane " << b;
      // In proportion to the step it would be another.
      EXPECT_GT((flow.dt.get(b)(0) * G - expected).norm(), 1e-3 * expected.norm());
    }
  }
  lanes::use_best_isa();
}

// Half the substep, a sixteenth of the error: over pairs of substeps, and over each.
TEST(ProgramFlow, TheErrorIsOfFourthOrder) {
  for (const std::vector<int>& counts : {std::vector<int>{4, 8, 16, 32}, {5, 11, 21}}) {
    std::vector<double> error;
    for (const int substeps : counts) {
      PendulumFlow flow(substeps);
      for (int b = 0; b < kFlowLanes; ++b) flow.dt.set(b, Matrix::Constant(1, 1, 1.0));
      flow.run();
      const Matrix G = flow.L.get_lower(3) * flow.L.get_lower(3).transpose();
      error.push_back((flow.Q.get(3) - integrated_noise(flow.point(3), G)).norm());
    }
    for (std::size_t i = 0; i + 1 < error.size(); ++i) {
      const double sixteenth =
          std::pow(static_cast<double>(counts[i + 1]) / static_cast<double>(counts[i]), 4);
      EXPECT_GT(error[i] / error[i + 1], 11.0 / 16 * sixteenth) << counts[i];
      EXPECT_LT(error[i] / error[i + 1], 24.0 / 16 * sixteenth) << counts[i];
    }
  }
}

// The tangent of several substeps is a product; it is that of where they lead.
TEST(ProgramFlow, TheTangentIsThatOfAllSubsteps) {
  constexpr double kStep = 1e-6;
  for (const int substeps : {2, 3, 4}) {
    PendulumFlow flow(substeps);
    flow.run();
    const auto end = [&](int b) -> Vector { return flow.F.get(b) * flow.x.get(b) + flow.e.get(b); };
    std::vector<Matrix> F;
    std::vector<Vector> x;
    for (int b = 0; b < kFlowLanes; ++b) {
      F.push_back(flow.F.get(b));
      x.push_back(flow.x.get(b));
    }
    for (int j = 0; j < 2; ++j) {
      std::vector<Vector> ends[2];
      for (const int side : {0, 1}) {
        for (int b = 0; b < kFlowLanes; ++b) {
          Vector moved = x[static_cast<std::size_t>(b)];
          moved(j) += side == 0 ? -kStep : kStep;
          flow.x.set(b, moved);
        }
        flow.run();
        for (int b = 0; b < kFlowLanes; ++b) ends[side].push_back(end(b));
      }
      for (std::size_t b = 0; b < static_cast<std::size_t>(kFlowLanes); ++b)
        EXPECT_LE(((ends[1][b] - ends[0][b]) / (2 * kStep) - F[b].col(j)).norm(), 1e-8)
            << substeps << " substeps, lane " << b;
    }
  }
}

TEST(ProgramFlow, TheMapIsThatOfTheProgramMap) {
  PendulumFlow flow(3);
  flow.run();
  Lines<double> F(2, 2), e(2, 1);
  flow.map.forward(flow.at(), F.data(), e.data(), flow.scratch.data());
  for (int b = 0; b < kFlowLanes; ++b) {
    const Point at = flow.point(b);
    const Vector next =
        rk4_steps([&](const Vector& x) { return DrivenPendulum::slope(at, x); }, at.x, at.dt, 3);
    EXPECT_LE((flow.F.get(b) * at.x + flow.e.get(b) - next).norm(), 1e-13);
    EXPECT_EQ(flow.F.get(b), F.get(b));
    EXPECT_EQ(flow.e.get(b), e.get(b));
  }
}

TEST(ProgramFlow, AdjointMatchesCentralDifferences) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int substeps : {1, 2, 3, 4}) {
      PendulumFlow flow(substeps);
      RandomStream random(172, "weights");
      Lines<double> d_F(2, 2), d_e(2, 1), d_Q(2, 2), d_x(2, 1), d_theta(2, 1);
      TriangleLines<double> d_L(2);
      fill(d_F, [&] { return random_matrix(random, 2, 2); });
      fill(d_e, [&] { return random_matrix(random, 2, 1); });
      fill(d_Q, [&] { return test::random_symmetric(random, 2); });
      flow.map.backward_with_noise(flow.at(), flow.L.data(), d_F.data(), d_e.data(), d_Q.data(),
                                   d_L.data(), d_x.data(), d_theta.data(), flow.scratch.data());
      std::vector<double> gradient(2);
      for (std::size_t i = 0; i < d_theta.span().size(); ++i)
        gradient[i / kFlowLanes] += d_theta.span()[i];
      test::check_gradient(
          [&] {
            flow.run();
            return test::weighted_sum(d_F.span(), flow.F.span()) +
                   test::weighted_sum(d_e.span(), flow.e.span()) +
                   test::weighted_sum(d_Q.span(), flow.Q.span());
          },
          {{"x", flow.x.span(), d_x.span()},
           {"L", flow.L.span(), d_L.span()},
           {"theta", flow.theta, gradient}},
          173);
    }
  }
  lanes::use_best_isa();
}

}  // namespace
}  // namespace kalmia::prior
