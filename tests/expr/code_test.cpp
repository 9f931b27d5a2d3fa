// Code is short: products join sums, constants join operations, slots are used again.
#include "expr/code.hpp"

#include <gtest/gtest.h>

namespace kalmia::test {
namespace {

using expr::Code;
using expr::Fused;
using expr::Graph;
using expr::Node;
using expr::Op;

class CodeTest : public testing::Test {
 protected:
  Code code_of(const std::vector<Node>& outputs) { return compile(g, outputs, 3); }
  // The one instruction of an output; Op::Symbol if there are several.
  int only_code(Node output) {
    const Code code = code_of({output});
    return code.instructions.size() == 1 ? code.instructions[0].code : static_cast<int>(Op::Symbol);
  }
  Graph g;
  const Node x = g.symbol(0), y = g.symbol(1), z = g.symbol(2), c = g.constant(3);
};

TEST_F(CodeTest, ProductsJoinTheirSum) {
  const Node xy = g.multiply(x, y), cx = g.multiply(c, x);
  EXPECT_EQ(only_code(g.add(xy, z)), static_cast<int>(Fused::MultiplyAdd));
  EXPECT_EQ(only_code(g.add(z, xy)), static_cast<int>(Fused::MultiplyAdd));
  EXPECT_EQ(only_code(g.subtract(xy, z)), static_cast<int>(Fused::MultiplySubtract));
  EXPECT_EQ(only_code(g.subtract(z, xy)), static_cast<int>(Fused::SubtractProduct));
  EXPECT_EQ(only_code(g.add(cx, z)), static_cast<int>(Fused::ScaleAdd));
  EXPECT_EQ(only_code(g.subtract(cx, z)), static_cast<int>(Fused::ScaleSubtract));
  EXPECT_EQ(only_code(g.subtract(z, cx)), static_cast<int>(Fused::ScaleAdd));
  EXPECT_EQ(code_of({g.subtract(z, cx)}).instructions[0].k, -3);
}

TEST_F(CodeTest, ProductsWithOtherUsesAreComputedOnce) {
  const Node xy = g.multiply(x, y);
  EXPECT_EQ(code_of({g.add(xy, z), xy}).instructions.size(), 2u);
  EXPECT_EQ(code_of({g.add(xy, z), g.subtract(xy, z)}).instructions.size(), 3u);
}

TEST_F(CodeTest, ConstantsJoinTheirOperation) {
  EXPECT_EQ(only_code(g.add(c, x)), static_cast<int>(Fused::AddConstant));
  EXPECT_EQ(only_code(g.subtract(c, x)), static_cast<int>(Fused::FromConstant));
  EXPECT_EQ(only_code(g.multiply(c, x)), static_cast<int>(Fused::Scale));
  EXPECT_EQ(only_code(g.divide(x, c)), static_cast<int>(Fused::DivideByConstant));
  EXPECT_EQ(only_code(g.divide(c, x)), static_cast<int>(Fused::DivideConstant));
  EXPECT_EQ(only_code(c), static_cast<int>(Op::Constant));
  // The rest loads it.
  EXPECT_EQ(code_of({g.apply(Op::Max, x, c)}).instructions.size(), 2u);
}

TEST_F(CodeTest, NothingElseIsComputed) {
  g.apply(Op::Sin, x);
  EXPECT_EQ(only_code(g.apply(Op::Cos, x)), static_cast<int>(Op::Cos));
  const Code code = code_of({y, x, y});
  EXPECT_TRUE(code.instructions.empty());
  EXPECT_EQ(code.outputs, (std::vector<std::int32_t>{1, 0, 1}));
  EXPECT_EQ(code.num_slots, 3);
}

TEST_F(CodeTest, SlotsAreUsedAgain) {
  Node node = x;
  for (int i = 0; i < 50; ++i) node = g.apply(Op::Sin, g.add(node, y));
  EXPECT_EQ(code_of({node}).num_slots, 4);
  // An output keeps its slot to the end.
  EXPECT_EQ(code_of({g.add(x, y), node}).num_slots, 5);
}

}  // namespace
}  // namespace kalmia::test
