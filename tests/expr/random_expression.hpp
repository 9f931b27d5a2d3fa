// Random expressions of all operations, tame enough to have finite values and derivatives.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.hpp"
#include "expr/graph.hpp"

namespace kalmia::test {

/// Grows a pool of nodes from the first `num_symbols` symbols and returns the last `num_outputs`.
/// Every new node is bounded by a sine or a sigmoid, and operands are moved into the domain of
/// their function.
inline std::vector<expr::Node> random_expressions(expr::Graph& g, RandomStream& random,
                                                  int num_symbols, int num_nodes, int num_outputs) {
  using expr::Node;
  using expr::Op;
  std::vector<Node> pool;
  for (int i = 0; i < num_symbols; ++i) pool.push_back(g.symbol(i));
  const auto pick = [&] { return pool[random.below(pool.size())]; };
  // In (0.2, 1.2): inside every domain but asin's, which takes half of it.
  const auto positive = [&](Node a) { return g.add(g.constant(0.2), g.apply(Op::Sigmoid, a)); };
  for (int i = 0; i < num_nodes; ++i) {
    const Op op = static_cast<Op>(2 + random.below(expr::kNumOps - 2));
    Node a = pick(), b = pick();
    if (op == Op::Log || op == Op::Sqrt || op == Op::Power) a = positive(a);
    if (op == Op::Asin || op == Op::Acos || op == Op::Tan)
      a = g.multiply(g.constant(0.5), positive(a));
    if (op == Op::Divide || op == Op::Atan2) b = positive(b);
    if (op == Op::Less || op == Op::Gate || op == Op::Sign) a = pool[0];  // away from its jump
    if (op == Op::Less) b = g.constant(0.3);
    Node next = g.apply(op, a, b);
    if (random.below(3) == 0) next = g.multiply(g.constant(random.normal()), next);
    if (random.below(3) == 0) next = g.add(g.constant(random.normal()), next);
    if (op != Op::Add && op != Op::Subtract && op != Op::Negate) next = g.apply(Op::Sin, next);
    pool.push_back(next);
  }
  return {pool.end() - num_outputs, pool.end()};
}

}  // namespace kalmia::test
