// Differentiation of expressions: by symbol (Graph::derivative), and in reverse.
#pragma once

#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace kalmia::expr {

/// The adjoint as expressions: for each symbol i < num_symbols
///
///   d_symbol[i] = sum over j of (d outputs[j] / d symbol[i]) d_outputs[j].
///
/// Cost: linear in the number of nodes, for all symbols together. Derivatives at kinks as in
/// Graph::derivative.
std::vector<Node> adjoint(Graph& graph, std::span<const Node> outputs,
                          std::span<const Node> d_outputs, int num_symbols);

}  // namespace kalmia::expr
