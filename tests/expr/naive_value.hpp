// The value of a node by recursion: what graphs, derivatives and programs are compared with.
#pragma once

#include <map>
#include <span>

#include "expr/graph.hpp"

namespace kalmia::test {

inline double naive_value(const expr::Graph& graph, expr::Node node,
                          std::span<const double> symbols, std::map<int, double>& known) {
  const expr::Entry& entry = graph[node];
  if (entry.op == expr::Op::Constant) return entry.value;
  if (entry.op == expr::Op::Symbol) return symbols[static_cast<std::size_t>(entry.symbol)];
  const auto found = known.find(node.index);
  if (found != known.end()) return found->second;
  const double a = naive_value(graph, entry.a, symbols, known);
  const double b = expr::arity(entry.op) == 2 ? naive_value(graph, entry.b, symbols, known) : 0.0;
  return known[node.index] = expr::value_of(entry.op, a, b);
}

inline double naive_value(const expr::Graph& graph, expr::Node node,
                          std::span<const double> symbols) {
  std::map<int, double> known;
  return naive_value(graph, node, symbols, known);
}

}  // namespace kalmia::test
