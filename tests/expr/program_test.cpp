// Programs on lines: against recursive evaluation, central differences and symbolic derivatives, on
// all instruction sets.
#include "expr/program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "expr/naive_value.hpp"
#include "expr/random_expression.hpp"
#include "kalmia/error.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

using expr::Graph;
using expr::Node;
using expr::Op;
using expr::Program;

std::vector<double> column(const Lines<double>& lines, int lane) {
  std::vector<double> values;
  for (int i = 0; i < lines.rows(); ++i) values.push_back(lines.at(i, 0, lane));
  return values;
}

// A program with room for its arguments; inputs are in (0.4, 1.2).
struct Case {
  Case(const Graph& graph, const std::vector<Node>& nodes, int num_inputs)
      : program(graph, nodes, num_inputs),
        x(num_inputs, 1),
        out(program.num_outputs(), 1),
        d_x(num_inputs, 1),
        d_out(program.num_outputs(), 1),
        scratch(program.scratch_size()) {
    RandomStream random(51, "program");
    for (double& value : x.span()) value = random.uniform(0.4, 1.2);
    for (double& value : d_out.span()) value = random.normal();
  }
  void forward() { program.forward(x.data(), out.data(), scratch.data()); }
  void backward() { program.backward(x.data(), d_out.data(), d_x.data(), scratch.data()); }

  Program program;
  Lines<double> x, out, d_x, d_out;
  Buffer<double> scratch;
};

TEST(Program, EqualsRecursiveEvaluation) {
  for_each_isa([] {
    RandomStream random(52, "expressions");
    for (int trial = 0; trial < 30; ++trial) {
      Graph g;
      const std::vector<Node> outputs = random_expressions(g, random, 4, 60, 5);
      Case c(g, outputs, 4);
      c.forward();
      for (int lane = 0; lane < c.x.kLanes; ++lane)
        for (int j = 0; j < 5; ++j)
          EXPECT_NEAR(c.out.at(j, 0, lane),
                      naive_value(g, outputs[static_cast<std::size_t>(j)], column(c.x, lane)),
                      1e-11)
              << "trial " << trial << ", output " << j << ", lane " << lane;
    }
  });
}

// Each operation alone, each also with a constant on either side.
TEST(Program, EveryOperationAndEveryFusedForm) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1), z = g.symbol(2), c = g.constant(0.3);
  std::vector<Node> outputs;
  for (int i = static_cast<int>(Op::Negate); i < expr::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const auto& [a, b] : {std::pair{x, y}, {x, c}, {c, y}})
      outputs.push_back(g.apply(op, a, b));
  }
  for (const Node product : {g.multiply(x, y), g.multiply(c, y)})
    for (const Node f : {g.add(product, z), g.subtract(product, z), g.subtract(z, product)})
      outputs.push_back(f);
  outputs.push_back(c);
  outputs.push_back(x);
  for_each_isa([&] {
    for (const Node output : outputs) {  // alone, so that fused forms appear
      SCOPED_TRACE("operation " + std::to_string(static_cast<int>(g[output].op)));
      Case one(g, {output}, 3);
      one.forward();
      for (int lane = 0; lane < one.x.kLanes; ++lane) {
        // asin and the like of more than 1 are NaN in both.
        const double want = naive_value(g, output, column(one.x, lane));
        const double found = one.out.at(0, 0, lane);
        EXPECT_EQ(std::isnan(found), std::isnan(want));
        EXPECT_FALSE(std::abs(found - want) > 1e-14) << found << " instead of " << want;
      }
    }
  });
}

TEST(Program, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    RandomStream random(53, "expressions");
    for (int trial = 0; trial < 10; ++trial) {
      Graph g;
      Case c(g, random_expressions(g, random, 3, 12, 3), 3);
      // Accumulates: what was there must stay.
      std::fill(c.d_x.span().begin(), c.d_x.span().end(), 1.0);
      c.backward();
      for (double& value : c.d_x.span()) value -= 1;
      check_gradient(
          [&] {
            c.forward();
            return weighted_sum(c.d_out.span(), c.out.span());
          },
          {{"x", c.x.span(), c.d_x.span()}}, 54);
    }
  });
}

TEST(Program, LanesAreIndependent) {
  Graph g;
  RandomStream random(55, "expressions");
  for_each_isa([&] {
    const std::vector<Node> outputs = random_expressions(g, random, 3, 40, 4);
    Case before(g, outputs, 3), c(g, outputs, 3);
    before.forward();
    before.backward();
    for (int i = 0; i < 3; ++i) c.x.at(i, 0, 5) = std::numeric_limits<double>::quiet_NaN();
    c.forward();
    c.backward();
    for (int lane = 0; lane < c.x.kLanes; ++lane) {
      if (lane == 5) continue;
      EXPECT_EQ(column(c.out, lane), column(before.out, lane));
      EXPECT_EQ(column(c.d_x, lane), column(before.d_x, lane));
    }
    bool any = false;
    for (int j = 0; j < 4; ++j) any = any || std::isnan(c.out.at(j, 0, 5));
    EXPECT_TRUE(any);
  });
}

// Infinities and NaN as in IEEE arithmetic.
TEST(Program, LetsWhatIsNotFiniteThrough) {
  Graph g;
  const Node x = g.symbol(0);
  const Program program(g,
                        {g.divide(g.constant(1), x), g.apply(Op::Log, x), g.apply(Op::Exp, x),
                         g.subtract(g.multiply(x, x), g.apply(Op::Exp, x))},
                        1);
  const double inf = std::numeric_limits<double>::infinity();
  for_each_isa([&] {
    const std::vector<double> at_zero = evaluate(program, std::vector<double>{0});
    EXPECT_EQ(at_zero[0], inf);
    EXPECT_EQ(at_zero[1], -inf);
    const std::vector<double> at_inf = evaluate(program, std::vector<double>{inf});
    EXPECT_EQ(at_inf[0], 0);
    EXPECT_EQ(at_inf[1], inf);
    EXPECT_EQ(at_inf[2], inf);
    EXPECT_TRUE(std::isnan(at_inf[3]));
  });
}

// One step of Runge-Kutta: x + (dt/6) (k1 + 2 k2 + 2 k3 + k4), k2 = f(x + dt/2 k1), ...
std::vector<Node> runge_kutta(Graph& g, const std::vector<Node>& f, double dt) {
  const auto slopes = [&](double step, const std::vector<Node>& k) {
    std::map<int, Node> at;
    for (int i = 0; i < static_cast<int>(f.size()); ++i)
      at[i] = g.add(g.symbol(i), g.multiply(g.constant(step), k[static_cast<std::size_t>(i)]));
    return g.substitute(f, at);
  };
  const std::vector<Node> k2 = slopes(dt / 2, f), k3 = slopes(dt / 2, k2), k4 = slopes(dt, k3);
  std::vector<Node> next;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const Node middle = g.multiply(g.constant(2), g.add(k2[i], k3[i]));
    const Node sum = g.add(g.add(f[i], middle), k4[i]);
    next.push_back(g.add(g.symbol(static_cast<int>(i)), g.multiply(g.constant(dt / 6), sum)));
  }
  return next;
}

// The Lorenz equations, with their parameter sigma as a fourth input.
std::vector<Node> lorenz(Graph& g) {
  const Node x = g.symbol(0), y = g.symbol(1), z = g.symbol(2), sigma = g.symbol(3);
  return {g.multiply(sigma, g.subtract(y, x)),
          g.subtract(g.multiply(x, g.subtract(g.constant(28), z)), y),
          g.subtract(g.multiply(x, y), g.multiply(g.constant(8.0 / 3), z))};
}

// The same step in plain code.
std::array<double, 3> lorenz_step(const std::vector<double>& in, double dt) {
  using State = std::array<double, 3>;
  const auto f = [&](const State& s) {
    return State{in[3] * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3 * s[2]};
  };
  const State x = {in[0], in[1], in[2]};
  const auto moved = [&](double step, const State& k) {
    return State{x[0] + step * k[0], x[1] + step * k[1], x[2] + step * k[2]};
  };
  const State k1 = f(x), k2 = f(moved(dt / 2, k1)), k3 = f(moved(dt / 2, k2)),
              k4 = f(moved(dt, k3));
  State next = x;
  for (std::size_t i = 0; i < 3; ++i) next[i] += dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  return next;
}

TEST(Program, LorenzStepWithItsJacobianAndAdjoint) {
  constexpr double kDt = 0.05, kStep = 1e-5;
  Graph g;
  std::vector<Node> outputs = runge_kutta(g, lorenz(g), kDt);
  for (std::size_t i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) outputs.push_back(g.derivative(outputs[i], j));
  for_each_isa([&] {
    Case c(g, outputs, 4);
    c.forward();
    for (int lane = 0; lane < c.x.kLanes; ++lane) {
      const std::vector<double> at = column(c.x, lane);
      const std::array<double, 3> want = lorenz_step(at, kDt);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(c.out.at(i, 0, lane), want[static_cast<std::size_t>(i)], 1e-13);
      for (std::size_t j = 0; j < 4; ++j) {
        std::vector<double> above = at, below = at;
        above[j] += kStep;
        below[j] -= kStep;
        const std::array<double, 3> high = lorenz_step(above, kDt), low = lorenz_step(below, kDt);
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_NEAR(c.out.at(static_cast<int>(3 + 4 * i + j), 0, lane),
                      (high[i] - low[i]) / (2 * kStep), 1e-8);
      }
    }
    c.backward();
    check_gradient(
        [&] {
          c.forward();
          return weighted_sum(c.d_out.span(), c.out.span());
        },
        {{"x", c.x.span(), c.d_x.span()}}, 56);
  });
}

// A user's flow of many substeps.
TEST(Program, AHundredSubstepsAreAFlow) {
  Graph g;
  const std::vector<Node> step = runge_kutta(g, lorenz(g), 0.001);
  std::vector<Node> flow = {g.symbol(0), g.symbol(1), g.symbol(2)};
  for (int n = 0; n < 100; ++n)
    flow = g.substitute(step, {{0, flow[0]}, {1, flow[1]}, {2, flow[2]}});
  std::vector<double> x = {1, 2, 20, 10};
  const std::vector<double> found = evaluate(Program(g, flow, 4), x);
  for (int n = 0; n < 100; ++n) {
    const std::array<double, 3> next = lorenz_step(x, 0.001);
    std::copy(next.begin(), next.end(), x.begin());
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], x[i], 1e-11);
}

TEST(Program, ErrorsNameTheNumbersAndTheRule) {
  Graph g;
  const Node y = g.symbol(1);
  const auto message = [](const auto& action) {
    try {
      action();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message([&] { Program(g, {y}, 1); }),
            "symbol 1 of an expression with 1 inputs, but symbols must be numbered from 0 to the "
            "inputs' number less 1");
  EXPECT_EQ(message([&] { Program(g, {y}, 2); }), "accepted");
  EXPECT_EQ(message([&] { evaluate(Program(g, {y}, 2), std::vector<double>{1}); }),
            "1 inputs, but the expression has 2");
}

}  // namespace
}  // namespace kalmia::test
