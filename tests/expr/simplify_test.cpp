// The rules of simplification one by one, and that none of them changes a value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "expr/graph.hpp"
#include "expr/naive_value.hpp"

namespace kalmia::test {
namespace {

using expr::Graph;
using expr::Node;
using expr::Op;

class Simplify : public testing::Test {
 protected:
  Node num(double value) { return g.constant(value); }
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1);
};

TEST_F(Simplify, Sums) {
  EXPECT_EQ(g.add(num(2), num(3)), num(5));
  EXPECT_EQ(g.add(num(0), x), x);
  EXPECT_EQ(g.add(x, num(0)), x);
  EXPECT_EQ(g.add(x, x), g.multiply(num(2), x));
  EXPECT_EQ(g.add(x, g.negate(y)), g.subtract(x, y));
  EXPECT_EQ(g.add(g.negate(y), x), g.subtract(x, y));
  EXPECT_EQ(g.subtract(num(2), num(3)), num(-1));
  EXPECT_EQ(g.subtract(x, num(0)), x);
  EXPECT_EQ(g.subtract(num(0), x), g.negate(x));
  EXPECT_EQ(g.subtract(x, x), num(0));
  EXPECT_EQ(g.subtract(x, num(3)), g.add(num(-3), x));
  EXPECT_EQ(g.subtract(x, g.negate(y)), g.add(x, y));
  EXPECT_EQ(g.subtract(g.negate(x), y), g.negate(g.add(x, y)));
}

TEST_F(Simplify, Signs) {
  EXPECT_EQ(g.negate(num(2)), num(-2));
  EXPECT_EQ(g.negate(g.negate(x)), x);
  EXPECT_EQ(g.negate(g.subtract(x, y)), g.subtract(y, x));
  EXPECT_EQ(g.negate(g.multiply(num(3), x)), g.multiply(num(-3), x));
}

TEST_F(Simplify, Products) {
  EXPECT_EQ(g.multiply(num(2), num(3)), num(6));
  EXPECT_EQ(g.multiply(x, num(0)), num(0));
  EXPECT_EQ(g.multiply(x, num(1)), x);
  EXPECT_EQ(g.multiply(num(-1), x), g.negate(x));
  EXPECT_EQ(g.multiply(num(2), g.multiply(x, num(3))), g.multiply(num(6), x));
  EXPECT_EQ(g.multiply(num(2), g.negate(x)), g.multiply(num(-2), x));
  EXPECT_EQ(g.multiply(num(2), g.divide(num(3), x)), g.divide(num(6), x));
  EXPECT_EQ(g.multiply(g.negate(x), y), g.negate(g.multiply(x, y)));
  EXPECT_EQ(g.multiply(x, g.negate(y)), g.negate(g.multiply(x, y)));
  EXPECT_EQ(g.multiply(g.negate(x), g.negate(y)), g.multiply(x, y));
}

TEST_F(Simplify, Quotients) {
  EXPECT_EQ(g.divide(num(3), num(2)), num(1.5));
  EXPECT_EQ(g.divide(num(0), x), num(0));
  EXPECT_EQ(g.divide(x, num(1)), x);
  EXPECT_EQ(g.divide(x, num(-1)), g.negate(x));
  EXPECT_EQ(g.divide(x, num(8)), g.multiply(num(0.125), x));
  EXPECT_EQ(g[g.divide(x, num(3))].op, Op::Divide);  // 1/3 would round twice
  EXPECT_EQ(g.divide(g.multiply(num(6), x), num(3)), g.multiply(num(2), x));
  EXPECT_EQ(g.divide(g.negate(x), y), g.negate(g.divide(x, y)));
  EXPECT_EQ(g.divide(x, g.negate(y)), g.negate(g.divide(x, y)));
  EXPECT_EQ(g[g.divide(x, num(0))].op, Op::Divide);
  EXPECT_EQ(g[g.divide(x, x)].op, Op::Divide);  // 0/0 is not 1
}

TEST_F(Simplify, Powers) {
  const Node x2 = g.multiply(x, x), x4 = g.multiply(x2, x2);
  EXPECT_EQ(g.power(num(2), num(3)), num(8));
  EXPECT_EQ(g.power(x, num(0)), num(1));
  EXPECT_EQ(g.power(x, num(1)), x);
  EXPECT_EQ(g.power(x, num(2)), x2);
  EXPECT_EQ(g.power(x, num(3)), g.multiply(x, x2));
  EXPECT_EQ(g.power(x, num(4)), x4);
  EXPECT_EQ(g.power(x, num(7)), g.multiply(g.multiply(x, x2), x4));
  EXPECT_EQ(g.power(x, num(-2)), g.divide(num(1), x2));
  EXPECT_EQ(g.power(x, num(0.5)), g.apply(Op::Sqrt, x));
  EXPECT_EQ(g.power(x, num(-0.5)), g.divide(num(1), g.apply(Op::Sqrt, x)));
  EXPECT_EQ(g.power(num(1), x), num(1));
  EXPECT_EQ(g[g.power(x, num(17))].op, Op::Power);
  EXPECT_EQ(g[g.power(x, num(1.5))].op, Op::Power);
  EXPECT_EQ(g[g.power(x, y)].op, Op::Power);
}

TEST_F(Simplify, Functions) {
  EXPECT_EQ(g.apply(Op::Sin, num(0.5)), num(std::sin(0.5)));
  EXPECT_EQ(g.apply(Op::Atan2, num(1), num(2)), num(std::atan2(1.0, 2.0)));
  EXPECT_EQ(g.apply(Op::Min, x, x), x);
  EXPECT_EQ(g.apply(Op::Max, x, x), x);
  EXPECT_NE(g.apply(Op::Max, x, y), g.apply(Op::Max, y, x));  // they differ at a tie
  EXPECT_EQ(g.apply(Op::Gate, num(2), x), x);
  EXPECT_EQ(g.apply(Op::Gate, num(0), x), num(0));
  EXPECT_EQ(g.apply(Op::Gate, x, num(0)), num(0));
  EXPECT_EQ(g.apply(Op::Gate, x, g.apply(Op::Gate, x, y)), g.apply(Op::Gate, x, y));
  EXPECT_EQ(g.apply(Op::Add, x, num(0)), x);
  EXPECT_EQ(g.apply(Op::Power, x, num(1)), x);
}

// Sums, products and signs at random, with constants that trigger the rules, built in the graph and
// computed beside it.
TEST_F(Simplify, NoRuleChangesAValue) {
  RandomStream random(31, "simplify");
  const std::vector<double> at = {0.7, -1.3};
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Node> nodes = {x, y};
    std::vector<double> values = at;
    for (const double c : {-1.0, 0.0, 1.0, 2.0, -0.5, 3.0}) {
      nodes.push_back(num(c));
      values.push_back(c);
    }
    for (int i = 0; i < 12; ++i) {
      const Op ops[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Negate, Op::Power};
      const Op op = ops[random.below(6)];
      const std::size_t a = random.below(nodes.size());
      std::size_t b = random.below(nodes.size());
      if (op == Op::Power) b = 2 + b % 6;  // a constant exponent
      const double value = value_of(op, values[a], values[b]);
      if (!(std::abs(value) < 1e6) || (value != 0 && std::abs(value) < 1e-6)) continue;
      nodes.push_back(g.apply(op, nodes[a], nodes[b]));
      values.push_back(value);
      const double found = naive_value(g, nodes.back(), at);
      // Differences that cancel keep the rounding of their terms.
      ASSERT_NEAR(found, value, 1e-9 * std::max(1.0, std::abs(value))) << "trial " << trial;
      values.back() = found;
    }
  }
}

}  // namespace
}  // namespace kalmia::test
