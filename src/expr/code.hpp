// Expressions as straight-line code: what a Program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace kalmia::expr {

/// Operations that code has besides those of Op: with a constant k as an operand, and products that
/// are added to or subtracted from.
enum class Fused : std::uint8_t {
  AddConstant = kNumOps,  ///< k + a
  FromConstant,           ///< k - a
  Scale,                  ///< k a
  DivideByConstant,       ///< a / k
  DivideConstant,         ///< k / a
  MultiplyAdd,            ///< a b + c
  MultiplySubtract,       ///< a b - c
  SubtractProduct,        ///< c - a b
  ScaleAdd,               ///< k a + c
  ScaleSubtract,          ///< k a - c
};

/// slots[to] = operation on slots[a], slots[b], slots[c] and k.
struct Instruction {
  std::uint8_t code = 0;  ///< an Op or a Fused
  std::int32_t to = 0, a = 0, b = 0, c = 0;
  double k = 0;
};

/// Instructions in an order in which operands come first. Slots are used again once nobody needs
/// their value.
struct Code {
  std::vector<Instruction> instructions;
  std::vector<std::int32_t> outputs;  ///< the slot of each output
  std::int32_t num_slots = 0;         ///< slots 0 .. num_inputs - 1 hold the symbols
};

/// Code for the outputs and nothing else. Symbols must have numbers in 0 .. num_inputs - 1.
Code compile(const Graph& graph, std::span<const Node> outputs, int num_inputs);

}  // namespace kalmia::expr
