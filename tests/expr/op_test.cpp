// What each operation means on plain numbers, where the standard library does not already say it.
#include "expr/op.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace kalmia::test {
namespace {

using expr::Op;
using expr::value_of;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Op, ValuesAreThoseOfTheStandardLibrary) {
  const double a = 0.3, b = 0.7;
  EXPECT_EQ(value_of(Op::Negate, a, b), -a);
  EXPECT_EQ(value_of(Op::Sin, a, b), std::sin(a));
  EXPECT_EQ(value_of(Op::Cos, a, b), std::cos(a));
  EXPECT_EQ(value_of(Op::Tan, a, b), std::tan(a));
  EXPECT_EQ(value_of(Op::Asin, a, b), std::asin(a));
  EXPECT_EQ(value_of(Op::Acos, a, b), std::acos(a));
  EXPECT_EQ(value_of(Op::Atan, a, b), std::atan(a));
  EXPECT_EQ(value_of(Op::Sinh, a, b), std::sinh(a));
  EXPECT_EQ(value_of(Op::Cosh, a, b), std::cosh(a));
  EXPECT_EQ(value_of(Op::Tanh, a, b), std::tanh(a));
  EXPECT_EQ(value_of(Op::Exp, a, b), std::exp(a));
  EXPECT_EQ(value_of(Op::Log, a, b), std::log(a));
  EXPECT_EQ(value_of(Op::Sqrt, a, b), std::sqrt(a));
  EXPECT_EQ(value_of(Op::Abs, -a, b), a);
  EXPECT_EQ(value_of(Op::Add, a, b), a + b);
  EXPECT_EQ(value_of(Op::Subtract, a, b), a - b);
  EXPECT_EQ(value_of(Op::Multiply, a, b), a * b);
  EXPECT_EQ(value_of(Op::Divide, a, b), a / b);
  EXPECT_EQ(value_of(Op::Power, a, b), std::pow(a, b));
  EXPECT_EQ(value_of(Op::Atan2, a, b), std::atan2(a, b));
}

TEST(Op, SigmoidAndSoftplusDoNotOverflow) {
  EXPECT_DOUBLE_EQ(value_of(Op::Sigmoid, 0.3, 0), 1 / (1 + std::exp(-0.3)));
  EXPECT_DOUBLE_EQ(value_of(Op::Sigmoid, -0.3, 0), 1 / (1 + std::exp(0.3)));
  EXPECT_EQ(value_of(Op::Sigmoid, 1e6, 0), 1);
  EXPECT_EQ(value_of(Op::Sigmoid, -1e6, 0), 0);
  EXPECT_DOUBLE_EQ(value_of(Op::Softplus, 0.3, 0), std::log(1 + std::exp(0.3)));
  EXPECT_DOUBLE_EQ(value_of(Op::Softplus, -0.3, 0), std::log(1 + std::exp(-0.3)));
  EXPECT_EQ(value_of(Op::Softplus, 1e6, 0), 1e6);
  EXPECT_EQ(value_of(Op::Softplus, -1e6, 0), 0);
}

TEST(Op, SignMinMaxLessAndGate) {
  EXPECT_EQ(value_of(Op::Sign, -3, 0), -1);
  EXPECT_EQ(value_of(Op::Sign, 0, 0), 0);
  EXPECT_EQ(value_of(Op::Sign, kInf, 0), 1);
  EXPECT_EQ(value_of(Op::Min, 1, 2), 1);
  EXPECT_EQ(value_of(Op::Min, 2, 1), 1);
  EXPECT_EQ(value_of(Op::Max, 1, 2), 2);
  EXPECT_EQ(value_of(Op::Max, 2, 1), 2);
  EXPECT_TRUE(std::signbit(value_of(Op::Min, -0.0, 0.0)));  // the first at a tie
  EXPECT_TRUE(std::signbit(value_of(Op::Max, -0.0, 0.0)));
  EXPECT_EQ(value_of(Op::Less, 1, 2), 1);
  EXPECT_EQ(value_of(Op::Less, 2, 2), 0);
  EXPECT_EQ(value_of(Op::Gate, -1, 5), 5);
  EXPECT_EQ(value_of(Op::Gate, 0, kInf), 0);
}

TEST(Op, NansAreKept) {
  for (int i = static_cast<int>(Op::Negate); i < static_cast<int>(Op::Less); ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_TRUE(std::isnan(value_of(op, kNan, 2))) << i;
    if (expr::arity(op) < 2) continue;
    EXPECT_TRUE(std::isnan(value_of(op, 2, kNan))) << i;
  }
}

TEST(Op, FunctionsHaveOneNameEach) {
  std::set<std::string> names;
  std::set<Op> ops;
  for (const expr::Function& function : expr::functions()) {
    EXPECT_TRUE(names.emplace(function.name).second) << function.name;
    EXPECT_TRUE(ops.insert(function.op).second) << function.name;
    EXPECT_GE(expr::arity(function.op), 1);
  }
  EXPECT_EQ(names.size(), 20u);
  EXPECT_EQ(expr::arity(Op::Symbol), 0);
  EXPECT_EQ(expr::arity(Op::Softplus), 1);
  EXPECT_EQ(expr::arity(Op::Add), 2);
}

}  // namespace
}  // namespace kalmia::test
