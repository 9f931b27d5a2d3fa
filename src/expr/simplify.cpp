// The functions of Graph that make operations, with their rules of simplification.
#include <cmath>

#include "expr/graph.hpp"

namespace kalmia::expr {
namespace {

// 1/value is exact.
bool is_power_of_two(double value) {
  int exponent = 0;
  return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) < 1000;
}

// Largest whole exponent that becomes products. Each squaring doubles the relative error of
// rounding, so x^16 has at most 8 units in the last place.
constexpr double kLargestProduct = 16;

}  // namespace

Node Graph::add(Node a, Node b) {
  const Entry A = (*this)[a], B = (*this)[b];
  if (is_constant(a) && is_constant(b)) return constant(A.value + B.value);
  if (is_constant(a, 0)) return b;
  if (is_constant(b, 0)) return a;
  if (B.op == Op::Negate) return subtract(a, B.a);
  if (A.op == Op::Negate) return subtract(b, A.a);
  if (a == b) return multiply(constant(2), a);
  return intern_ordered(Op::Add, a, b);
}

Node Graph::subtract(Node a, Node b) {
  const Entry A = (*this)[a], B = (*this)[b];
  if (is_constant(b)) return add(a, constant(-B.value));
  if (is_constant(a, 0)) return negate(b);
  if (a == b) return constant(0);
  if (B.op == Op::Negate) return add(a, B.a);
  if (A.op == Op::Negate) return negate(add(A.a, b));
  return intern(Op::Subtract, a, b);
}

Node Graph::negate(Node a) {
  const Entry A = (*this)[a];
  switch (A.op) {
    case Op::Constant:
      return constant(-A.value);
    case Op::Negate:
      return A.a;
    case Op::Subtract:
      return subtract(A.b, A.a);
    case Op::Multiply:
      if (is_constant(A.a)) return multiply(negate(A.a), A.b);
      break;
    default:
      break;
  }
  return intern(Op::Negate, a);
}

Node Graph::multiply(Node a, Node b) {
  if (is_constant(b)) std::swap(a, b);
  const Entry A = (*this)[a], B = (*this)[b];
  if (is_constant(a)) {
    if (is_constant(b)) return constant(A.value * B.value);
    if (A.value == 0) return a;
    if (A.value == 1) return b;
    if (A.value == -1) return negate(b);
    if (B.op == Op::Negate) return multiply(negate(a), B.a);
    if (B.op == Op::Multiply && is_constant(B.a))
      return multiply(constant(A.value * (*this)[B.a].value), B.b);
    if (B.op == Op::Divide && is_constant(B.a))
      return divide(constant(A.value * (*this)[B.a].value), B.b);
  }
  if (A.op == Op::Negate) return negate(multiply(A.a, b));
  if (B.op == Op::Negate) return negate(multiply(a, B.a));
  return intern_ordered(Op::Multiply, a, b);
}

Node Graph::divide(Node a, Node b) {
  const Entry A = (*this)[a], B = (*this)[b];
  if (is_constant(b)) {
    if (is_constant(a)) return constant(A.value / B.value);
    if (is_power_of_two(B.value)) return multiply(constant(1 / B.value), a);
    if (A.op == Op::Multiply && is_constant(A.a) && B.value != 0)
      return multiply(constant((*this)[A.a].value / B.value), A.b);
  } else if (is_constant(a, 0)) {
    return a;
  }
  if (A.op == Op::Negate) return negate(divide(A.a, b));
  if (B.op == Op::Negate) return negate(divide(a, B.a));
  return intern(Op::Divide, a, b);
}

// By squaring: a^13 = a * a^4 * a^8.
Node Graph::whole_power(Node base, int exponent) {
  Node product = constant(1), square = base;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) product = multiply(product, square);
    if (exponent > 1) square = multiply(square, square);
  }
  return product;
}

Node Graph::power(Node base, Node exponent) {
  if (!is_constant(exponent)) {
    if (is_constant(base, 1)) return base;
    return intern(Op::Power, base, exponent);
  }
  const double n = (*this)[exponent].value;
  if (is_constant(base)) return constant(std::pow((*this)[base].value, n));
  if (n == 0.5) return apply(Op::Sqrt, base);
  if (n == -0.5) return divide(constant(1), apply(Op::Sqrt, base));
  if (n == std::trunc(n) && std::abs(n) <= kLargestProduct) {
    const Node product = whole_power(base, static_cast<int>(std::abs(n)));
    return n < 0 ? divide(constant(1), product) : product;
  }
  return intern(Op::Power, base, exponent);
}

Node Graph::apply(Op op, Node a, Node b) {
  switch (op) {
    case Op::Add:
      return add(a, b);
    case Op::Subtract:
      return subtract(a, b);
    case Op::Multiply:
      return multiply(a, b);
    case Op::Divide:
      return divide(a, b);
    case Op::Negate:
      return negate(a);
    case Op::Power:
      return power(a, b);
    default:
      break;
  }
  const Entry& A = (*this)[a];
  if (arity(op) == 1)
    return A.op == Op::Constant ? constant(value_of(op, A.value, 0)) : intern(op, a);
  if (A.op == Op::Constant && is_constant(b))
    return constant(value_of(op, A.value, (*this)[b].value));
  if ((op == Op::Min || op == Op::Max) && a == b) return a;
  if (op == Op::Gate) {
    if (A.op == Op::Constant) return A.value != 0 ? b : constant(0);
    if (is_constant(b, 0)) return b;
    if ((*this)[b].op == Op::Gate && (*this)[b].a == a) return b;
  }
  return intern(op, a, b);
}

}  // namespace kalmia::expr
