#include "prior/point_program.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "prior/prior_cases.hpp"
#include "support/gradient_check.hpp"

namespace kalmia::prior {
namespace {

using test::fill;
using test::random_matrix;

// Every lane at its own point.
struct Lanes {
  Lines<double> x{2, 1}, dt{1, 1}, u{2, 1};
  std::vector<double> theta = {2.5, 0.35};

  Lanes() {
    RandomStream random(141, "points");
    fill(x, [&] { return random_matrix(random, 2, 1); });
    fill(dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.05, 0.6)); });
    fill(u, [&] { return random_matrix(random, 2, 1); });
  }
  kalman::MapPoint at() const { return {x.data(), dt.data(), u.data(), theta.data()}; }
};

TEST(PointProgram, EachLaneHasItsOwnPoint) {
  DrivenPendulum p;
  const Nodes next = rk4_flow(p.graph, p.symbols, p.f, 1);
  const PointProgram program(p.graph, p.symbols, next);
  EXPECT_EQ(program.num_outputs(), 2);
  const Lanes lanes;
  Buffer<double> scratch(program.scratch_size());
  const double* found = program.forward(lanes.at(), scratch.data());
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    const Point at{lanes.x.get(b), lanes.dt.get(b)(0), lanes.u.get(b),
                   Eigen::Map<const Vector>(lanes.theta.data(), 2)};
    const Vector expected =
        rk4_step([&](const Vector& x) { return DrivenPendulum::slope(at, x); }, at.x, at.dt);
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(found[i * Lines<double>::kLanes + b], expected(i), 1e-14) << "lane " << b;
  }
}

TEST(PointProgram, AdjointMatchesCentralDifferences) {
  DrivenPendulum p;
  const PointProgram program(p.graph, p.symbols, rk4_flow(p.graph, p.symbols, p.f, 2));
  Lanes lanes;
  Buffer<double> scratch(program.scratch_size());
  RandomStream random(142, "weights");
  Lines<double> weights(2, 1), d_x(2, 1), d_theta(2, 1);
  fill(weights, [&] { return random_matrix(random, 2, 1); });
  // Adds to what was there.
  std::fill(d_x.span().begin(), d_x.span().end(), 1.0);
  std::fill(d_theta.span().begin(), d_theta.span().end(), 1.0);
  std::copy(weights.span().begin(), weights.span().end(), program.d_outputs(scratch.data()));
  program.backward(lanes.at(), d_x.data(), d_theta.data(), scratch.data());
  std::vector<double> gradient(2);
  for (double& each : d_x.span()) each -= 1;
  for (std::size_t i = 0; i < d_theta.span().size(); ++i)
    gradient[i / Lines<double>::kLanes] += d_theta.span()[i] - 1;
  test::check_gradient(
      [&] {
        const double* outputs = program.forward(lanes.at(), scratch.data());
        return test::weighted_sum(weights.span(), {outputs, weights.span().size()});
      },
      {{"x", lanes.x.span(), d_x.span()}, {"theta", lanes.theta, gradient}}, 143);
}

TEST(PointProgram, NeedsNoInputsWhereThereAreNone) {
  expr::Graph graph;
  const Symbols symbols{1, 0, 0};
  const PointProgram program(
      graph, symbols, {graph.multiply(graph.symbol(symbols.x(0)), graph.symbol(symbols.dt()))});
  Lines<double> x(1, 1), dt(1, 1);
  fill(x, [] { return Matrix::Constant(1, 1, 3); });
  fill(dt, [] { return Matrix::Constant(1, 1, 0.5); });
  Buffer<double> scratch(program.scratch_size());
  EXPECT_EQ(program.forward({x.data(), dt.data()}, scratch.data())[0], 1.5);
}

}  // namespace
}  // namespace kalmia::prior
