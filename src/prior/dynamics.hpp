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
  int added = 0;  ///< states of parts, which will follow the equations' own

  int x(int i) const { return i; }
  int dt() const { return states + added; }
  int u(int i) const { return dt() + 1 + i; }
  int theta(int i) const { return dt() + 1 + inputs + i; }
  int count() const { return dt() + 1 + inputs + parameters; }
};

using Nodes = std::vector<expr::Node>;

/// A local linear map x' = F x + e as expressions: F (N x N, by rows) and e (N).
struct LinearNodes {
  Nodes F, e;
};

/// A term of the noise that a density G adds up to over a step, weight W G W'.
struct NoiseTerm {
  expr::Node weight;
  Nodes W;  ///< N x N
};

/// The flow of dx/dt = f(x) over dt, linearised, with the noise that enters along it.
struct FlowNodes {
  LinearNodes map;
  std::vector<NoiseTerm> noise;
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

/// The flow of dx/dt = f(x) over h by one step of the classical Runge-Kutta method.
Nodes rk4_step(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
               expr::Node h);

/// The same by its Taylor series: sum over n <= order of h^n / n! L^n x, where
/// L g = sum over j of dg/dx_j f_j.
Nodes taylor_step(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
                  int order, expr::Node h);

/// The flow over dt by `substeps` steps of Runge and Kutta's method; by the Taylor series.
Nodes rk4_flow(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
               int substeps);
Nodes taylor_flow(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
                  int order);

/// The same, linearised, and the noise along it: Simpson's rule for the integral of W(s) G W(s)',
/// over two substeps of length h each at a time, with F1 and F2 their Jacobians
///
///   W(0) = F2 F1,   W(h) = F2,   W(2h) = I
///
/// or, if their number is odd, over each, with J0 and J1 the Jacobian of f at its ends,
///
///   W(0) = F,   W(h) = I,   W(h/2) = (F + I) / 2 + (h / 8) (J1 - F J0)
///
/// (W's cubic through its ends; dW/ds = -W J), so that the error is of order h^4, as is that of
/// Runge and Kutta's method. All weights are positive: Q is a covariance.
FlowNodes noisy_rk4_flow(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> f,
                         int substeps);
FlowNodes noisy_taylor_flow(expr::Graph& graph, const Symbols& symbols,
                            std::span<const expr::Node> f, int order);

/// The same of a flow that is known: `next`, where f leads over dt.
FlowNodes noisy_known_flow(expr::Graph& graph, const Symbols& symbols,
                           std::span<const expr::Node> f, const Nodes& next);

/// F = sum over n <= order of (dt A)^n / n! with A (N x N) frozen at x, e = 0.
///
/// Paper: Sec. 8.1, 8.2; see docs/errata.md, item 4.
LinearNodes frozen_map(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> A,
                       int order);

/// f = A x.
Nodes matrix_times_state(expr::Graph& graph, const Symbols& symbols, std::span<const expr::Node> A);

}  // namespace kalmia::prior
