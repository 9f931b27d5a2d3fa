#include "prior/dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kalmia/error.hpp"
#include "prior/prior_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

using expr::Graph;

auto pendulum_at(const Point& at) {
  return [at](const Vector& x) { return DrivenPendulum::slope(at, x); };
}

// A with constant entries, and dx/dt = A x.
const Matrix kA{{-0.4, 1.2, 0}, {-0.9, 0.1, 0.5}, {0.3, 0, -0.7}};
Nodes constants(Graph& graph, const Matrix& A) {
  Nodes nodes;
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < A.cols(); ++j) nodes.push_back(graph.constant(A(i, j)));
  return nodes;
}

TEST(Symbols, StandInTheirOrder) {
  const Symbols symbols{3, 2, 4};
  EXPECT_EQ(symbols.x(2), 2);
  EXPECT_EQ(symbols.dt(), 3);
  EXPECT_EQ(symbols.u(0), 4);
  EXPECT_EQ(symbols.theta(0), 6);
  EXPECT_EQ(symbols.theta(3), 9);
  EXPECT_EQ(symbols.count(), 10);
}

TEST(Rk4Flow, IsTheClassicalMethod) {
  for (const int substeps : {1, 2, 5}) {
    DrivenPendulum p;
    const Point at = DrivenPendulum::point();
    const Vector found =
        values(p.graph, p.symbols, rk4_flow(p.graph, p.symbols, p.f, substeps), at);
    const Vector expected = rk4_steps(pendulum_at(at), at.x, at.dt, substeps);
    EXPECT_LE((found - expected).norm(), 1e-14) << substeps;
    EXPECT_GT((expected - rk4_steps(pendulum_at(at), at.x, at.dt, substeps + 1)).norm(), 1e-9);
  }
}

// Order 1 and 2 by their formulas; of higher orders, how fast they come to the flow.
TEST(TaylorFlow, IsTheSeriesOfTheFlow) {
  DrivenPendulum p;
  const Point at = DrivenPendulum::point();
  const auto flow = [&](int order, double dt) {
    Point shorter = at;
    shorter.dt = dt;
    return values(p.graph, p.symbols, taylor_flow(p.graph, p.symbols, p.f, order), shorter);
  };
  const Vector f = DrivenPendulum::slope(at, at.x);
  const Vector Jf = DrivenPendulum::jacobian(at) * f;
  EXPECT_LE((flow(1, 0.3) - (at.x + 0.3 * f)).norm(), 1e-15);
  EXPECT_LE((flow(2, 0.3) - (at.x + 0.3 * f + 0.045 * Jf)).norm(), 1e-15);
  for (const int order : {1, 2, 3, 4, 5}) {
    const auto error = [&](double dt) {
      return (flow(order, dt) - rk4_steps(pendulum_at(at), at.x, dt, 200)).norm();
    };
    EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), order + 1, 0.15) << order;
  }
}

TEST(TaylorFlow, OfALinearSystemIsTheMatrixSeries) {
  Graph graph;
  const Symbols symbols{3, 0, 0};
  const Point at{Vector{{1, -2, 0.5}}, 0.7};
  const Nodes f = matrix_times_state(graph, symbols, constants(graph, kA));
  EXPECT_LE((values(graph, symbols, f, at) - kA * at.x).norm(), 1e-15);
  for (const int order : {1, 2, 3, 8}) {
    const Nodes next = taylor_flow(graph, symbols, f, order);
    const Matrix F = taylor_series(kA, at.dt, order);
    EXPECT_LE((values(graph, symbols, next, at) - F * at.x).norm(), 1e-14) << order;
    const LinearNodes map = linearised(graph, symbols, next);
    EXPECT_LE((square(values(graph, symbols, map.F, at)) - F).norm(), 1e-14) << order;
    for (const expr::Node e : map.e) EXPECT_TRUE(graph.is_constant(e, 0)) << order;
  }
}

TEST(FrozenMap, IsTheSeriesOfTheMatrixAtTheState) {
  Graph graph;
  const Symbols symbols{2, 0, 1};
  const auto x = [&](int i) { return graph.symbol(symbols.x(i)); };
  const Nodes A = {graph.apply(expr::Op::Sin, x(1)), graph.symbol(symbols.theta(0)),
                   graph.multiply(x(0), x(1)), graph.constant(-0.5)};
  const Point at{Vector{{0.8, -1.1}}, 0.4, Vector(0), Vector{{1.7}}};
  const Matrix A_at{{std::sin(-1.1), 1.7}, {0.8 * -1.1, -0.5}};
  for (const int order : {1, 2, 3, 6}) {
    const LinearNodes map = frozen_map(graph, symbols, A, order);
    EXPECT_LE((square(values(graph, symbols, map.F, at)) - taylor_series(A_at, 0.4, order)).norm(),
              1e-14)
        << order;
    ASSERT_EQ(map.e.size(), 2u);
    for (const expr::Node e : map.e) EXPECT_TRUE(graph.is_constant(e, 0));
  }
  const LinearNodes none = frozen_map(graph, symbols, A, 0);
  EXPECT_EQ(square(values(graph, symbols, none.F, at)), Matrix::Identity(2, 2));
}

TEST(Linearised, IsTheTangentOfTheMap) {
  DrivenPendulum p;
  const Nodes next = rk4_flow(p.graph, p.symbols, p.f, 2);
  const LinearNodes map = linearised(p.graph, p.symbols, next);
  const Point at = DrivenPendulum::point();
  const Matrix F = square(values(p.graph, p.symbols, map.F, at));
  const Vector e = values(p.graph, p.symbols, map.e, at);
  EXPECT_LE((F * at.x + e - values(p.graph, p.symbols, next, at)).norm(), 1e-14);
  constexpr double kStep = 1e-5;
  for (int j = 0; j < 2; ++j) {
    Vector plus = at.x, minus = at.x;
    plus(j) += kStep;
    minus(j) -= kStep;
    const auto flow = [&](const Vector& x) { return rk4_steps(pendulum_at(at), x, at.dt, 2); };
    EXPECT_LE((F.col(j) - (flow(plus) - flow(minus)) / (2 * kStep)).norm(), 1e-9) << j;
  }
  // It is no linear map: its tangent elsewhere is another.
  Point other = at;
  other.x(0) += 1;
  EXPECT_GT((square(values(p.graph, p.symbols, map.F, other)) - F).norm(), 0.1);
}

// e of a linear map with an input is what the input adds, whatever the state; without one it is
// the number 0, not a sum that rounds to it.
TEST(Linearised, ALinearMapHasAnExactOffset) {
  Graph graph;
  const Symbols symbols{3, 1, 0};
  Nodes f = matrix_times_state(graph, symbols, constants(graph, kA));
  f[2] = graph.add(f[2], graph.symbol(symbols.u(0)));
  const LinearNodes map = linearised(graph, symbols, rk4_flow(graph, symbols, f, 1));
  const Matrix F = taylor_series(kA, 0.7, 4);  // of a linear system, Runge and Kutta's is this
  // dt (1 + dt A / 2 + (dt A)^2 / 6 + (dt A)^3 / 24) [0, 0, u]'.
  const Matrix S = 0.7 * (Matrix::Identity(3, 3) + 0.7 * kA / 2 + 0.49 * kA * kA / 6 +
                          0.343 * kA * kA * kA / 24);
  Vector e;
  for (const double away : {0.0, 1e9}) {
    const Point at{Vector{{1 + away, -2, 0.5 - away}}, 0.7, Vector{{3}}};
    EXPECT_LE((square(values(graph, symbols, map.F, at)) - F).norm(), 1e-14);
    e = values(graph, symbols, map.e, at);
    EXPECT_LE((e - S * Vector{{0, 0, 3}}).norm(), 1e-14) << away;
  }
  const LinearNodes still = linearised(
      graph, symbols,
      rk4_flow(graph, symbols, matrix_times_state(graph, symbols, constants(graph, kA)), 3));
  for (const expr::Node each : still.e) EXPECT_TRUE(graph.is_constant(each, 0));
}

// A series of high order of such equations has more terms than memory; that is told in a second.
TEST(TaylorFlow, EquationsThatSwellAreRefusedAsTheyGrow) {
  DrivenPendulum p;
  const std::string message = message_of<ConfigError>([&] {
    Nodes f = p.f;
    f[0] = p.graph.apply(expr::Op::Tanh, p.graph.multiply(p.f[0], p.f[1]));
    f[1] = p.graph.apply(expr::Op::Exp, p.graph.multiply(p.f[1], f[0]));
    taylor_flow(p.graph, p.symbols, f, 20);
  });
  EXPECT_EQ(message.rfind("the equations of one step grew to ", 0), 0u) << message;
  EXPECT_LT(p.graph.size(), 2 * kMostNodes);
}

}  // namespace
}  // namespace kalmia::prior
