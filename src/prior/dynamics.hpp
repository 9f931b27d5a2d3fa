// A system's equations as a graph: what the named experts build and a user's text becomes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "expr/graph.hpp"

namespace kalmia::prior {

/// Numbers of the symbols of a system's graph: states, step, inputs, parameters, in this order.
struct Symbols {
  int states = 0;
  int inputs = 0;
  int parameters = 0;

  int x(int i) const { return i; }
  int dt() const { return states; }
  int u(int i) const { return states + 1 + i; }
  int theta(int i) const { return states + 1 + inputs + i; }
  int count() const { return states + 1 + inputs + parameters; }
};

using Nodes = std::vector<expr::Node>;

/// A local linear map x' = F x + e as expressions: F (N x N, by rows) and e (N).
struct LinearNodes {
  Nodes F, e;
};

/// More operations in one step than any sensible system has; a guard against equations that swell.
inline constexpr std::size_t kMostNodes = 400000;

/// Throws ConfigError if the graph has grown beyond kMostNodes. The functions below ask as they go,
/// so that equations that swell cost neither the user's time nor memory.
void require_size(const expr::Graph& graph);

/// The map x' = next(x) linearised at x: F its Jacobian, e = next - F x (zero, exactly, where next
/// is linear in x).
LinearNodes linearised(expr::Graph& graph, const Symbols& symbols,
                       std::span<const expr::Node> next);

/// The flow of dx/dt = f(x) over dt by `substeps` steps of the classical Runge-Kutta method.
Nodes rk4_flow(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
               int substeps);

/// The same by its Taylor series: sum over n <= order of dt^n / n! L^n x, where
/// L g = sum over j of dg/dx_j f_j.
Nodes taylor_flow(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
                  int order);

/// F = sum over n <= order of (dt A)^n / n! with A (N x N) frozen at x, e = 0.
///
/// Paper: Sec. 8.1, 8.2; see docs/errata.md, item 4.
LinearNodes frozen_map(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> A,
                       int order);

/// f = A x.
Nodes matrix_times_state(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> A);

}  // namespace kalmia::prior
