// What several tests of this folder share: values of expressions and maps at a point, and a system
// whose every part depends on everything.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "expr/program.hpp"
#include "prior/dynamics.hpp"
#include "prior/expert.hpp"
#include "support/lines.hpp"

namespace kalmia::prior {

using test::Lines;
using test::Matrix;
using test::Vector;

/// The symbols' values.
struct Point {
  Vector x;
  double dt = 1;
  Vector u = Vector(0);
  Vector theta = Vector(0);
};

inline Vector values(const expr::Graph& graph, const Symbols& symbols, const Nodes& nodes,
                     const Point& at) {
  std::vector<double> inputs(at.x.begin(), at.x.end());
  inputs.push_back(at.dt);
  inputs.insert(inputs.end(), at.u.begin(), at.u.end());
  inputs.insert(inputs.end(), at.theta.begin(), at.theta.end());
  const std::vector<double> found =
      expr::evaluate(expr::Program(graph, nodes, symbols.count()), inputs);
  return Eigen::Map<const Vector>(found.data(), static_cast<Eigen::Index>(found.size()));
}

inline Matrix square(const Vector& by_rows) {
  const auto N = static_cast<Eigen::Index>(std::lround(std::sqrt(by_rows.size())));
  return by_rows.reshaped(N, N).transpose();
}

struct LocalMap {
  Matrix F;
  Vector e;
};

/// A map at a point; without theta, that of the starting values.
inline LocalMap local_map(const Expert& expert, Point at) {
  const int N = expert.map->state_dim(), U = expert.map->input_dim();
  EXPECT_EQ(expert.state_dim(), N);
  std::vector<double> theta = expert.theta();
  if (at.theta.size() > 0) theta.assign(at.theta.begin(), at.theta.end());
  EXPECT_EQ(static_cast<std::size_t>(expert.map->parameter_count()), theta.size());
  EXPECT_EQ(at.u.size(), U);
  Lines<double> x(N, 1), dt(1, 1), u(std::max(U, 1), 1), F(N, N), e(N, 1);
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    x.set(b, at.x);
    dt.set(b, Matrix::Constant(1, 1, at.dt));
    if (U > 0) u.set(b, at.u);
  }
  Buffer<double> scratch(expert.map->scratch_size());
  expert.map->forward({x.data(), dt.data(), u.data(), theta.data()}, F.data(), e.data(),
                      scratch.data());
  return {F.get(3), e.get(3)};
}

/// Sum over n <= order of (dt A)^n / n!.
inline Matrix taylor_series(const Matrix& A, double dt, int order) {
  Matrix sum = Matrix::Identity(A.rows(), A.cols()), term = sum;
  for (int n = 1; n <= order; ++n) {
    term = (term * A * dt / n).eval();
    sum += term;
  }
  return sum;
}

/// One step of the classical Runge-Kutta method.
template <typename Slope>
Vector rk4_step(const Slope& f, const Vector& x, double dt) {
  const Vector k1 = f(x), k2 = f(x + dt / 2 * k1), k3 = f(x + dt / 2 * k2), k4 = f(x + dt * k3);
  return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}
template <typename Slope>
Vector rk4_steps(const Slope& f, Vector x, double dt, int steps) {
  for (int i = 0; i < steps; ++i) x = rk4_step(f, x, dt / steps);
  return x;
}

/// A pendulum with friction c and a torque of two inputs:
///   d angle = rate, d rate = -g sin(angle) - c rate + u0 cos(angle) + u1.
struct DrivenPendulum {
  expr::Graph graph;
  Symbols symbols{2, 2, 2};
  Nodes f;

  DrivenPendulum() {
    using expr::Op;
    const auto symbol = [&](int number) { return graph.symbol(number); };
    const expr::Node angle = symbol(symbols.x(0)), rate = symbol(symbols.x(1));
    const expr::Node pull = graph.multiply(symbol(symbols.theta(0)), graph.apply(Op::Sin, angle));
    const expr::Node friction = graph.multiply(symbol(symbols.theta(1)), rate);
    const expr::Node torque = graph.multiply(symbol(symbols.u(0)), graph.apply(Op::Cos, angle));
    f = {rate, graph.subtract(graph.add(torque, symbol(symbols.u(1))), graph.add(pull, friction))};
  }

  static Vector slope(const Point& at, const Vector& x) {
    return Vector{{x(1), -at.theta(0) * std::sin(x(0)) - at.theta(1) * x(1) +
                             at.u(0) * std::cos(x(0)) + at.u(1)}};
  }
  static Matrix jacobian(const Point& at) {
    return Matrix{{0, 1},
                  {-at.theta(0) * std::cos(at.x(0)) - at.u(0) * std::sin(at.x(0)), -at.theta(1)}};
  }
  /// Somewhere.
  static Point point() {
    return {Vector{{0.7, -1.3}}, 0.3, Vector{{0.4, -0.2}}, Vector{{2.5, 0.35}}};
  }
};

}  // namespace kalmia::prior
