// Expressions from text, such as "sigma*(x2 - x1)".
#pragma once

#include <string>

#include "expr/graph.hpp"
#include "expr/symbol_table.hpp"

namespace kalmia::expr {

/// Parentheses, calls, signs and powers within one another, at most.
inline constexpr int kDeepestNesting = 200;

/// The node of an expression. With the precedence of Python:
///
///   sum     = product (("+" | "-") product)*
///   product = signed (("*" | "/") signed)*
///   signed  = ("+" | "-") signed | power
///   power   = atom (("^" | "**") signed)?           -x^2 = -(x^2),  2^3^2 = 2^9
///   atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
///
/// Names are those of the table and pi; functions are those of `functions()`.
/// Failure: ConfigError of one line that names `place` (where the text stands, such as
/// prior.ode.x2), the text, the character and the rule. Refused are also constants that are not
/// finite and a division by a constant zero.
Node parse(Graph& graph, const std::string& text, const SymbolTable& names,
           const std::string& place);

}  // namespace kalmia::expr
