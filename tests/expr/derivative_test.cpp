// Derivatives and adjoints of expressions against central differences and each other.
#include "expr/derivative.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "expr/naive_value.hpp"
#include "expr/random_expression.hpp"

namespace kalmia::test {
namespace {

using expr::Graph;
using expr::Node;
using expr::Op;

double central_difference(const Graph& g, Node f, std::vector<double> at, std::size_t symbol) {
  const double step = 1e-5, middle = at[symbol];
  at[symbol] = middle + step;
  const double above = naive_value(g, f, at);
  at[symbol] = middle - step;
  return (above - naive_value(g, f, at)) / (2 * step);
}

// The derivatives of f at a point, and of these.
void expect_exact_derivatives(Graph& g, Node f, const std::vector<double>& at) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Node first = g.derivative(f, static_cast<int>(i));
    const double want = central_difference(g, f, at, i);
    EXPECT_NEAR(naive_value(g, first, at), want, 1e-8 * std::max(1.0, std::abs(want)))
        << "first derivative by " << i;
    for (std::size_t j = 0; j < at.size(); ++j) {
      const Node second = g.derivative(first, static_cast<int>(j));
      const double curvature = central_difference(g, first, at, j);
      EXPECT_NEAR(naive_value(g, second, at), curvature, 1e-8 * std::max(1.0, std::abs(curvature)))
          << "second derivative by " << i << " and " << j;
    }
  }
}

TEST(Derivative, OfEveryOperationMatchesCentralDifferences) {
  // Two points each, inside the domain of every operation and away from kinks.
  const std::vector<std::vector<double>> points = {{0.3, 0.7}, {0.8, 0.45}};
  for (int i = static_cast<int>(Op::Negate); i < expr::kNumOps; ++i) {
    SCOPED_TRACE("operation " + std::to_string(i));
    Graph g;
    const Node x = g.symbol(0), y = g.symbol(1), f = g.apply(static_cast<Op>(i), x, y);
    for (const std::vector<double>& point : points) {
      expect_exact_derivatives(g, f, point);
      // The chain rule: operands that depend on both symbols, and a use of the result.
      const Node a = g.multiply(g.constant(0.9), g.apply(Op::Sin, g.add(x, g.multiply(x, y))));
      const Node inner = g.apply(static_cast<Op>(i), a, g.add(g.multiply(y, y), g.constant(0.1)));
      expect_exact_derivatives(g, g.multiply(inner, inner), point);
    }
  }
}

TEST(Derivative, OfNegativeArguments) {
  for (const Op op : {Op::Sin, Op::Cos, Op::Tan, Op::Asin, Op::Acos, Op::Atan, Op::Sinh, Op::Cosh,
                      Op::Tanh, Op::Exp, Op::Abs, Op::Sign, Op::Sigmoid, Op::Softplus, Op::Divide,
                      Op::Atan2, Op::Min, Op::Max}) {
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(op)));
    Graph g;
    expect_exact_derivatives(g, g.apply(op, g.symbol(0), g.symbol(1)), {-0.4, -0.9});
  }
}

TEST(Derivative, OfPowersWithConstantExponentOrBase) {
  Graph g;
  const Node x = g.symbol(0);
  for (const double n : {-3.0, -0.5, 0.5, 1.5, 2.0, 5.0, 16.0, 17.0})
    expect_exact_derivatives(g, g.power(x, g.constant(n)), {1.1});
  expect_exact_derivatives(g, g.power(g.constant(1.7), x), {1.1});
}

TEST(Derivative, AtKinks) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1);
  const auto slope = [&](Node f, int symbol, std::vector<double> at) {
    return naive_value(g, g.derivative(f, symbol), at);
  };
  EXPECT_EQ(slope(g.apply(Op::Abs, x), 0, {0, 0}), 0);
  EXPECT_EQ(slope(g.apply(Op::Abs, x), 0, {-2, 0}), -1);
  for (const Op op : {Op::Min, Op::Max}) {
    EXPECT_EQ(slope(g.apply(op, x, y), 0, {1, 1}), 1);  // the first at a tie
    EXPECT_EQ(slope(g.apply(op, x, y), 1, {1, 1}), 0);
  }
  // What is not taken does not matter, not even an infinite slope.
  EXPECT_EQ(slope(g.apply(Op::Max, g.apply(Op::Sqrt, x), g.constant(0.1)), 0, {0, 0}), 0);
  // x^y at x = 0, y > 0.
  EXPECT_EQ(slope(g.power(x, y), 1, {0, 2.5}), 0);
}

TEST(Derivative, IsSimplified) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1);
  EXPECT_EQ(g.derivative(g.multiply(x, y), 0), y);
  EXPECT_EQ(g.derivative(g.multiply(g.constant(3), x), 0), g.constant(3));
  EXPECT_EQ(g.derivative(y, 0), g.constant(0));
  EXPECT_EQ(g.derivative(g.apply(Op::Exp, y), 0), g.constant(0));
  EXPECT_EQ(g.derivative(g.power(x, g.constant(2)), 0), g.multiply(g.constant(2), x));
  EXPECT_EQ(g.derivative(g.apply(Op::Sign, x), 0), g.constant(0));
}

// Asking for each part of a chain costs no more than asking for all of it: 0.1 s, and a minute if
// each were differentiated from the start.
TEST(Derivative, IsKept) {
  Graph g;
  std::vector<Node> chain = {g.symbol(0)};
  for (int i = 0; i < 20000; ++i)
    chain.push_back(g.apply(Op::Sin, g.add(chain.back(), g.symbol(1))));
  const auto start = std::chrono::steady_clock::now();
  for (const Node node : chain) g.derivative(node, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Adjoint, EqualsTheDerivatives) {
  RandomStream random(41, "adjoint");
  for (int trial = 0; trial < 20; ++trial) {
    Graph g;
    const std::vector<Node> outputs = random_expressions(g, random, 4, 40, 3);
    std::vector<Node> seeds;
    std::vector<double> at;
    for (int i = 0; i < 4; ++i) at.push_back(random.uniform(0.4, 1.2));
    for (int j = 0; j < 3; ++j) {
      seeds.push_back(g.symbol(4 + j));
      at.push_back(random.normal());
    }
    const std::vector<Node> d = adjoint(g, outputs, seeds, 4);
    ASSERT_EQ(d.size(), 4u);
    for (int i = 0; i < 4; ++i) {
      double want = 0, size = 1;
      for (std::size_t j = 0; j < 3; ++j) {
        const double term = at[4 + j] * naive_value(g, g.derivative(outputs[j], i), at);
        want += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(naive_value(g, d[static_cast<std::size_t>(i)], at), want, 1e-11 * size)
          << "trial " << trial << ", symbol " << i;
    }
  }
}

// One output twice, an output that is a symbol, and a symbol nothing depends on.
TEST(Adjoint, OfOutputsThatCoincide) {
  Graph g;
  const Node x = g.symbol(0);
  const Node square = g.multiply(x, x), a = g.symbol(2), b = g.symbol(3), c = g.symbol(4);
  const std::vector<Node> outputs = {square, square, x}, seeds = {a, b, c};
  const std::vector<Node> d = adjoint(g, outputs, seeds, 2);
  EXPECT_DOUBLE_EQ(naive_value(g, d[0], std::vector<double>{3, 0, 5, 7, 11}), 2 * 3 * (5 + 7) + 11);
  EXPECT_EQ(d[1], g.constant(0));
}

TEST(Adjoint, IsLinearInTheDepth) {
  Graph g;
  Node node = g.symbol(0);
  for (int i = 0; i < 100000; ++i) node = g.apply(Op::Sin, g.add(node, g.symbol(1)));
  const std::size_t before = g.size();
  const std::vector<Node> outputs = {node}, seeds = {g.symbol(2)};
  adjoint(g, outputs, seeds, 2);
  EXPECT_LE(g.size() - before, 300010u);  // a cosine, a product and a sum per level
}

}  // namespace
}  // namespace kalmia::test
