// Sharing of nodes, order, substitution, and graphs that are very deep.
#include "expr/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/program.hpp"

namespace kalmia::test {
namespace {

using expr::Graph;
using expr::Node;
using expr::Op;

TEST(Graph, EqualExpressionsAreOneNode) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1);
  EXPECT_EQ(g.symbol(0), x);
  EXPECT_NE(x, y);
  EXPECT_EQ(g.multiply(x, y), g.multiply(y, x));
  EXPECT_EQ(g.add(x, y), g.add(y, x));
  EXPECT_NE(g.subtract(x, y), g.subtract(y, x));
  EXPECT_EQ(g.apply(Op::Sin, g.multiply(x, y)), g.apply(Op::Sin, g.multiply(y, x)));
  EXPECT_EQ(g.constant(2.5), g.constant(2.5));
  EXPECT_EQ(g.constant(0.0), g.constant(-0.0));
  const std::size_t size = g.size();
  g.multiply(y, x);
  EXPECT_EQ(g.size(), size);
}

TEST(Graph, OrderHasOperandsFirstAndNothingElse) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1);
  const Node unused = g.apply(Op::Sin, y);
  const Node product = g.multiply(x, y), root = g.apply(Op::Exp, product);
  const std::vector<Node> roots = {root, x};
  EXPECT_EQ(g.order(roots), (std::vector<Node>{x, y, product, root}));
  std::vector<Node> known(g.size());
  known[static_cast<std::size_t>(product.index)] = x;
  EXPECT_EQ(g.order(std::vector<Node>{root, unused}, known), (std::vector<Node>{y, unused, root}));
}

TEST(Graph, SubstitutesAllSymbolsAtOnce) {
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1), z = g.symbol(2);
  const Node f = g.add(g.multiply(x, g.apply(Op::Sin, y)), z);
  const Node swapped = g.substitute(f, {{0, y}, {1, x}});
  EXPECT_EQ(swapped, g.add(g.multiply(y, g.apply(Op::Sin, x)), z));
  // Results are simplified like anything else.
  EXPECT_EQ(g.substitute(f, {{0, g.constant(0)}}), z);
  const std::vector<Node> both = g.substitute(std::vector<Node>{f, x}, {{0, z}});
  EXPECT_EQ(both[0], g.add(g.multiply(z, g.apply(Op::Sin, y)), z));
  EXPECT_EQ(both[1], z);
}

// x -> sin(x) + c, n times.
Node chain(Graph& g, int n) {
  Node node = g.symbol(0);
  for (int i = 0; i < n; ++i) node = g.add(g.apply(Op::Sin, node), g.constant(1e-6 * i));
  return node;
}

TEST(Graph, DeepExpressionsNeedNoStackAndLinearWork) {
  constexpr int kDepth = 100000;
  Graph g;
  const Node root = chain(g, kDepth);
  const std::size_t before = g.size();
  const Node slope = g.derivative(root, 0);
  const std::size_t grown = g.size() - before;
  EXPECT_LE(grown, 3u * kDepth);  // a cosine and a product per level
  EXPECT_EQ(g.derivative(root, 0), slope);
  EXPECT_EQ(g.size(), before + grown);
  const Node moved = g.substitute(root, {{0, g.add(g.symbol(1), g.constant(1))}});
  EXPECT_NE(moved, root);

  double value = 0.4, tangent = 1;
  for (int i = 0; i < kDepth; ++i) {
    tangent *= std::cos(value);
    value = std::sin(value) + 1e-6 * i;
  }
  const expr::Program program(g, {root, slope}, 1);
  const std::vector<double> result = evaluate(program, std::vector<double>{0.4});
  EXPECT_NEAR(result[0], value, 1e-9);
  EXPECT_NEAR(result[1], tangent, 1e-9);
}

}  // namespace
}  // namespace kalmia::test
