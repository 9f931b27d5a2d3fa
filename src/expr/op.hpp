// The operations of expressions, and what each means on plain numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kalmia::expr {

/// Closed under differentiation: the derivative of each is made of the others.
enum class Op : std::uint8_t {
  Constant,
  Symbol,
  // One operand.
  Negate,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Exp,
  Log,
  Sqrt,
  Abs,
  Sign,      ///< -1, 0 or 1
  Sigmoid,   ///< 1 / (1 + e^-a)
  Softplus,  ///< log(1 + e^a)
  // Two operands.
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  Atan2,
  Min,
  Max,
  Less,  ///< a < b ? 1 : 0, its derivative is 0
  Gate,  ///< a != 0 ? b : 0, its derivative is that of b, gated
};
inline constexpr int kNumOps = static_cast<int>(Op::Gate) + 1;

/// Operands: 0, 1 or 2.
int arity(Op op);

/// The value at plain numbers, `b` unused where there is one operand. A NaN operand gives NaN
/// (except in Gate, Less and pow(NaN, 0) = pow(1, NaN) = 1); Min and Max take the first at a tie.
double value_of(Op op, double a, double b);

/// An operation that is written as a call, such as sin(x).
struct Function {
  std::string_view name;
  Op op;
};
std::span<const Function> functions();

}  // namespace kalmia::expr
