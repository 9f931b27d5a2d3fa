// Expressions as a graph: equal subexpressions are one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "expr/op.hpp"

namespace kalmia::expr {

/// A node of a Graph. Operands have smaller indices than the nodes that use them.
struct Node {
  std::int32_t index = -1;
  friend bool operator==(Node, Node) = default;
};

/// What a node is: a constant (`value`), a symbol (`symbol`), or an operation on `a` and `b`.
struct Entry {
  Op op = Op::Constant;
  Node a, b;
  int symbol = -1;
  double value = 0;
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// A directed graph without cycles of operations on real numbers, constants and symbols (numbered
/// inputs). Nodes are made by functions that fold constants and simplify, so that derivatives stay
/// small; equal nodes, also x*y and y*x, are one. The rules are those of real numbers: 0*a is 0 and
/// a-a is 0 even where a turns out infinite, and constants of nested products are multiplied first.
///
/// No function recurses over the graph: depth costs memory, not stack.
class Graph {
 public:
  Node constant(double value);
  Node symbol(int number);

  Node add(Node a, Node b);
  Node subtract(Node a, Node b);
  Node multiply(Node a, Node b);
  Node divide(Node a, Node b);
  Node negate(Node a);
  /// Small whole exponents become products, 1/2 becomes a square root.
  Node power(Node base, Node exponent);
  /// Any operation with operands; `b` is unused where there is one.
  Node apply(Op op, Node a, Node b = {});

  /// d node / d symbol, exact. Derivatives are kept: asking again, also for nodes that share
  /// subexpressions, costs only what is new. At a kink: abs' = sign, which is 0 at 0; min and max
  /// have the derivative of the operand they take, the first at a tie.
  /// Cost: linear in the number of nodes per symbol.
  Node derivative(Node node, int symbol);

  /// The nodes with symbols replaced, all at once; symbols that `by` lacks stay.
  /// Cost: linear in the number of nodes.
  std::vector<Node> substitute(std::span<const Node> nodes, const std::map<int, Node>& by);
  Node substitute(Node node, const std::map<int, Node>& by);

  /// Nodes that `roots` need, themselves included, operands first. Nodes that have an entry (index
  /// not -1) in `known` are left out, with all that only they need.
  std::vector<Node> order(std::span<const Node> roots, const std::vector<Node>& known = {}) const;

  const Entry& operator[](Node node) const {
    return entries_[static_cast<std::size_t>(node.index)];
  }
  bool is_constant(Node node) const { return (*this)[node].op == Op::Constant; }
  bool is_constant(Node node, double value) const {
    return is_constant(node) && (*this)[node].value == value;
  }

  /// Nodes made so far. It only grows, by whatever is built; who lets users build limits it.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Entry& entry) const;
  };

  Node intern(const Entry& entry);
  Node intern(Op op, Node a, Node b = {}) { return intern({op, a, b}); }
  // Operands of a commutative operation in their one order: constants first, then by index.
  Node intern_ordered(Op op, Node a, Node b);
  Node whole_power(Node base, int exponent);

  std::vector<Entry> entries_;
  std::unordered_map<Entry, std::int32_t, Hash> index_;
  std::map<int, std::vector<Node>> derivatives_;  // by symbol, then by node
};

}  // namespace kalmia::expr
