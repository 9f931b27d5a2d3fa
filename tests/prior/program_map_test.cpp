#include "prior/program_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "prior/prior_cases.hpp"
#include "support/gradient_check.hpp"

namespace kalmia::prior {
namespace {

using test::fill;
using test::random_matrix;

constexpr int kMapLanes = Lines<double>::kLanes;

// Lanes at points of their own, with lengths of their own.
struct MapLanes {
  Lines<double> x{2, 1}, dt{1, 1}, u{2, 1};
  std::vector<double> theta = {2.5, 0.35};

  MapLanes() {
    RandomStream random(151, "points");
    fill(x, [&] { return random_matrix(random, 2, 1); });
    fill(dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.05, 0.6)); });
    fill(u, [&] { return random_matrix(random, 2, 1); });
  }
  kalman::MapPoint at() const { return {x.data(), dt.data(), u.data(), theta.data()}; }
  Point point(int lane) const {
    return {x.get(lane), dt.get(lane)(0), u.get(lane), Eigen::Map<const Vector>(theta.data(), 2)};
  }
};

// A parameter's adjoint is the sum of the lanes' shares.
std::vector<double> summed(const Lines<double>& d_theta) {
  std::vector<double> sums(d_theta.span().size() / kMapLanes);
  for (std::size_t i = 0; i < d_theta.span().size(); ++i) sums[i / kMapLanes] += d_theta.span()[i];
  return sums;
}

struct PendulumMap {
  DrivenPendulum pendulum;
  ProgramMap map;
  explicit PendulumMap(int substeps)
      : map(pendulum.graph, pendulum.symbols,
            linearised(pendulum.graph, pendulum.symbols,
                       rk4_flow(pendulum.graph, pendulum.symbols, pendulum.f, substeps))) {}
};

TEST(ProgramMap, IsTheTangentAtEachLanesPoint) {
  const PendulumMap p(2);
  EXPECT_EQ(p.map.state_dim(), 2);
  EXPECT_EQ(p.map.input_dim(), 2);
  EXPECT_EQ(p.map.parameter_count(), 2);
  const MapLanes lanes;
  Lines<double> F(2, 2), e(2, 1);
  Buffer<double> scratch(p.map.scratch_size());
  p.map.forward(lanes.at(), F.data(), e.data(), scratch.data());
  for (int b = 0; b < kMapLanes; ++b) {
    const Point at = lanes.point(b);
    const auto flow = [&](const Vector& from) {
      return rk4_steps([&](const Vector& x) { return DrivenPendulum::slope(at, x); }, from, at.dt,
                       2);
    };
    EXPECT_LE((F.get(b) * at.x + e.get(b) - flow(at.x)).norm(), 1e-13) << "lane " << b;
    constexpr double kStep = 1e-5;
    for (int j = 0; j < 2; ++j) {
      const Vector step = kStep * Vector::Unit(2, j);
      EXPECT_LE((F.get(b).col(j) - (flow(at.x + step) - flow(at.x - step)) / (2 * kStep)).norm(),
                1e-8)
          << "lane " << b;
    }
  }
}

TEST(ProgramMap, AdjointMatchesCentralDifferences) {
  for (const bool by_F : {true, false}) {
    const PendulumMap p(1);
    MapLanes lanes;
    RandomStream random(152, "weights");
    Lines<double> F(2, 2), e(2, 1), d_F(2, 2), d_e(2, 1), d_x(2, 1), d_theta(2, 1);
    if (by_F)
      fill(d_F, [&] { return random_matrix(random, 2, 2); });
    else
      fill(d_e, [&] { return random_matrix(random, 2, 1); });
    Buffer<double> scratch(p.map.scratch_size());
    std::fill(d_x.span().begin(), d_x.span().end(), 1.0);  // it adds
    p.map.backward(lanes.at(), d_F.data(), d_e.data(), d_x.data(), d_theta.data(), scratch.data());
    for (double& each : d_x.span()) each -= 1;
    const std::vector<double> gradient = summed(d_theta);
    SCOPED_TRACE(by_F ? "of F" : "of e");
    test::check_gradient(
        [&] {
          p.map.forward(lanes.at(), F.data(), e.data(), scratch.data());
          return test::weighted_sum(d_F.span(), F.span()) +
                 test::weighted_sum(d_e.span(), e.span());
        },
        {{"x", lanes.x.span(), d_x.span()}, {"theta", lanes.theta, gradient}}, 153);
  }
}

// Range and bearing of a point, the range with an offset that is a parameter.
struct RangeAndBearing {
  expr::Graph graph;
  Symbols symbols{2, 2, 2};
  ProgramEmission emission;
  RangeAndBearing() : emission(graph, symbols, measure(graph, symbols)) {}

  static Nodes measure(expr::Graph& g, const Symbols& symbols) {
    const expr::Node x = g.symbol(symbols.x(0)), y = g.symbol(symbols.x(1));
    const expr::Node range = g.apply(expr::Op::Sqrt, g.add(g.multiply(x, x), g.multiply(y, y)));
    return {g.add(g.multiply(g.symbol(symbols.theta(0)), range), g.symbol(symbols.theta(1))),
            g.apply(expr::Op::Atan2, y, x), g.multiply(x, x)};
  }
};

TEST(ProgramEmission, IsTheMeasurementWithItsJacobian) {
  const RangeAndBearing r;
  EXPECT_EQ(r.emission.state_dim(), 2);
  EXPECT_EQ(r.emission.meas_dim(), 3);
  const MapLanes lanes;
  Lines<double> y(3, 1), H(3, 2);
  Buffer<double> scratch(r.emission.scratch_size());
  r.emission.forward(lanes.at(), y.data(), H.data(), scratch.data());
  for (int b = 0; b < kMapLanes; ++b) {
    const double p = lanes.x.get(b)(0), q = lanes.x.get(b)(1), range = std::hypot(p, q);
    EXPECT_LE((y.get(b) - Vector{{2.5 * range + 0.35, std::atan2(q, p), p * p}}).norm(), 1e-14);
    const Matrix expected{{2.5 * p / range, 2.5 * q / range},
                          {-q / (range * range), p / (range * range)},
                          {2 * p, 0}};
    EXPECT_LE(test::difference(H.get(b), expected), 1e-13) << "lane " << b;
  }
}

TEST(ProgramEmission, AdjointMatchesCentralDifferences) {
  for (const bool by_H : {true, false}) {
    const RangeAndBearing r;
    MapLanes lanes;
    // Away from the origin, where a bearing means nothing.
    for (int b = 0; b < kMapLanes; ++b) {
      Matrix away = lanes.x.get(b);
      away(0) += 3;
      lanes.x.set(b, away);
    }
    RandomStream random(154, "weights");
    Lines<double> y(3, 1), H(3, 2), d_y(3, 1), d_H(3, 2), d_x(2, 1), d_theta(2, 1);
    if (by_H)
      fill(d_H, [&] { return random_matrix(random, 3, 2); });
    else
      fill(d_y, [&] { return random_matrix(random, 3, 1); });
    Buffer<double> scratch(r.emission.scratch_size());
    std::fill(d_x.span().begin(), d_x.span().end(), 1.0);
    r.emission.backward(lanes.at(), d_y.data(), d_H.data(), d_x.data(), d_theta.data(),
                        scratch.data());
    for (double& each : d_x.span()) each -= 1;
    const std::vector<double> gradient = summed(d_theta);
    SCOPED_TRACE(by_H ? "of H" : "of y");
    test::check_gradient(
        [&] {
          r.emission.forward(lanes.at(), y.data(), H.data(), scratch.data());
          return test::weighted_sum(d_y.span(), y.span()) +
                 test::weighted_sum(d_H.span(), H.span());
        },
        {{"x", lanes.x.span(), d_x.span()}, {"theta", lanes.theta, gradient}}, 155);
  }
}

}  // namespace
}  // namespace kalmia::prior
