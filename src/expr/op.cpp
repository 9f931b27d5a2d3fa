#include "expr/op.hpp"

#include <array>
#include <cmath>

namespace kalmia::expr {
namespace {

constexpr std::array<Function, 20> kFunctions = {
    {{"sin", Op::Sin},   {"cos", Op::Cos},   {"tan", Op::Tan},         {"asin", Op::Asin},
     {"acos", Op::Acos}, {"atan", Op::Atan}, {"atan2", Op::Atan2},     {"sinh", Op::Sinh},
     {"cosh", Op::Cosh}, {"tanh", Op::Tanh}, {"exp", Op::Exp},         {"log", Op::Log},
     {"sqrt", Op::Sqrt}, {"pow", Op::Power}, {"abs", Op::Abs},         {"sign", Op::Sign},
     {"min", Op::Min},   {"max", Op::Max},   {"sigmoid", Op::Sigmoid}, {"softplus", Op::Softplus}}};

double sign(double a) { return std::isnan(a) ? a : (a > 0) - (a < 0); }

// Neither exponential overflows.
double sigmoid(double a) {
  const double e = std::exp(-std::abs(a));
  return (a < 0 ? e : 1) / (1 + e);
}

double softplus(double a) { return (a < 0 ? 0 : a) + std::log1p(std::exp(-std::abs(a))); }

}  // namespace

int arity(Op op) {
  if (op <= Op::Symbol) return 0;
  return op < Op::Add ? 1 : 2;
}

double value_of(Op op, double a, double b) {
  switch (op) {
    case Op::Constant:
    case Op::Symbol:
      break;
    case Op::Negate:
      return -a;
    case Op::Sin:
      return std::sin(a);
    case Op::Cos:
      return std::cos(a);
    case Op::Tan:
      return std::tan(a);
    case Op::Asin:
      return std::asin(a);
    case Op::Acos:
      return std::acos(a);
    case Op::Atan:
      return std::atan(a);
    case Op::Sinh:
      return std::sinh(a);
    case Op::Cosh:
      return std::cosh(a);
    case Op::Tanh:
      return std::tanh(a);
    case Op::Exp:
      return std::exp(a);
    case Op::Log:
      return std::log(a);
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Abs:
      return std::abs(a);
    case Op::Sign:
      return sign(a);
    case Op::Sigmoid:
      return sigmoid(a);
    case Op::Softplus:
      return softplus(a);
    case Op::Add:
      return a + b;
    case Op::Subtract:
      return a - b;
    case Op::Multiply:
      return a * b;
    case Op::Divide:
      return a / b;
    case Op::Power:
      return std::pow(a, b);
    case Op::Atan2:
      return std::atan2(a, b);
    case Op::Min:
      return b < a || std::isnan(b) ? b : a;
    case Op::Max:
      return b > a || std::isnan(b) ? b : a;
    case Op::Less:
      return a < b ? 1 : 0;
    case Op::Gate:
      return a != 0 ? b : 0;
  }
  return 0;
}

std::span<const Function> functions() { return kFunctions; }

}  // namespace kalmia::expr
