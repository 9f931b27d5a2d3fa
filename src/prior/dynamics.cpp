#include "prior/dynamics.hpp"

#include <map>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::prior {
namespace {

using expr::Graph;
using expr::Node;

Node sum_of_products(Graph& graph, int count, const auto& a, const auto& b) {
  require_size(graph);
  Node sum = graph.constant(0);
  for (int i = 0; i < count; ++i) sum = graph.add(sum, graph.multiply(a(i), b(i)));
  return sum;
}

Node part_of_step(Graph& graph, const Symbols& symbols, int substeps) {
  return graph.divide(graph.symbol(symbols.dt()), graph.constant(substeps));
}

// e = next - F x, F by rows; exactly next(0) where F does not depend on x.
Nodes offset_of(Graph& graph, const Symbols& symbols, std::span<const Node> next, const Nodes& F) {
  const int N = symbols.states;
  std::map<int, Node> at_zero;
  for (int i = 0; i < N; ++i) at_zero[symbols.x(i)] = graph.constant(0);
  Nodes e;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const Nodes row(F.begin() + static_cast<std::ptrdiff_t>(i) * N,
                    F.begin() + static_cast<std::ptrdiff_t>(i + 1) * N);
    e.push_back(
        graph.substitute(row, at_zero) == row
            ? graph.substitute(next[i], at_zero)
            : graph.subtract(next[i],
                             sum_of_products(
                                 graph, N, [&](int j) { return row[static_cast<std::size_t>(j)]; },
                                 [&](int j) { return graph.symbol(symbols.x(j)); })));
  }
  return e;
}

// Over `substeps` steps of length h, each of which is `next` of its beginning.
FlowNodes flow_over(Graph& graph, const Symbols& symbols, std::span<const Node> f, int substeps,
                    Node h, const Nodes& next) {
  const int N = symbols.states;
  const auto square = static_cast<std::size_t>(N * N);
  const auto index = [N](int i, int j) { return static_cast<std::size_t>(i * N + j); };
  const auto product = [&](const Nodes& A, const Nodes& B) {
    Nodes C;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        C.push_back(sum_of_products(
            graph, N, [&](int k) { return A[index(i, k)]; },
            [&](int k) { return B[index(k, j)]; }));
    return C;
  };
  const auto jacobian = [&](std::span<const Node> of) {
    Nodes J;
    for (const Node each : of)
      for (int j = 0; j < N; ++j) {
        J.push_back(graph.derivative(each, symbols.x(j)));
        require_size(graph);
      }
    return J;
  };
  Nodes identity(square, graph.constant(0));
  for (int i = 0; i < N; ++i) identity[index(i, i)] = graph.constant(1);

  // Simpson's rule needs W in the middle of what it is taken over: of two substeps that is where
  // they meet, of one it is a cubic's.
  const bool pairs = substeps % 2 == 0;
  const Nodes F = jacobian(next);
  Nodes middle;
  if (!pairs) {
    const Nodes J0 = jacobian(f);
    std::map<int, Node> at_next;
    for (int i = 0; i < N; ++i) at_next[symbols.x(i)] = next[static_cast<std::size_t>(i)];
    const Nodes J1 = graph.substitute(J0, at_next);
    const Nodes FJ0 = product(F, J0);
    const Node half = graph.constant(0.5), eighth = graph.divide(h, graph.constant(8));
    for (std::size_t i = 0; i < square; ++i)
      middle.push_back(graph.add(graph.multiply(half, graph.add(F[i], identity[i])),
                                 graph.multiply(eighth, graph.subtract(J1[i], FJ0[i]))));
  }

  // Where each substep begins, and the Jacobians there.
  Nodes x;
  for (int i = 0; i < N; ++i) x.push_back(graph.symbol(symbols.x(i)));
  std::vector<Nodes> F_at, middle_at;
  for (int s = 0; s < substeps; ++s) {
    require_size(graph);
    std::map<int, Node> at;
    for (int i = 0; i < N; ++i) at[symbols.x(i)] = x[static_cast<std::size_t>(i)];
    F_at.push_back(graph.substitute(F, at));
    if (!pairs) middle_at.push_back(graph.substitute(middle, at));
    x = graph.substitute(next, at);
  }
  FlowNodes result;
  if (substeps == 1) result.map = linearised(graph, symbols, x);
  // From the last substep to the first; W leads from the end of a substep to the end of the step.
  const auto weight = [&](double parts) {
    return graph.multiply(graph.constant(parts / (pairs ? 3 : 6)), h);
  };
  Nodes W = identity;
  result.noise.push_back({weight(1), identity});
  for (int s = substeps - 1; s >= 0; --s) {
    const auto each = static_cast<std::size_t>(s);
    if (!pairs) result.noise.push_back({weight(4), product(W, middle_at[each])});
    require_size(graph);
    W = substeps == 1 ? result.map.F : product(W, F_at[each]);
    result.noise.push_back({weight(s == 0 ? 1 : pairs && s % 2 != 0 ? 4 : 2), W});
  }
  if (substeps == 1) return result;
  // What leads from the beginning of the step to its end is the tangent of all of it: a product,
  // which is far less work than the derivatives of the last substep by the state before the first.
  result.map.F = W;
  result.map.e = offset_of(graph, symbols, x, W);
  return result;
}

}  // namespace

void require_size(const Graph& graph) {
  if (graph.size() > kMostNodes)
    throw ConfigError("the equations of one step grew to " + std::to_string(graph.size()) +
                      " operations, but at most " + std::to_string(kMostNodes) +
                      " are possible; take fewer substeps or a lower order");
}

LinearNodes linearised(Graph& graph, const Symbols& symbols, std::span<const Node> next) {
  LinearNodes result;
  for (const Node each : next)
    for (int j = 0; j < symbols.states; ++j) {
      result.F.push_back(graph.derivative(each, symbols.x(j)));
      require_size(graph);
    }
  result.e = offset_of(graph, symbols, next, result.F);
  return result;
}

Nodes rk4_step(Graph& graph, const Symbols& symbols, std::span<const Node> f, Node h) {
  const auto N = static_cast<std::size_t>(symbols.states);
  require_size(graph);
  // f at x + scale h k.
  const auto slope = [&](double scale, const Nodes& k) {
    const Node step = graph.multiply(graph.constant(scale), h);
    std::map<int, Node> at;
    for (std::size_t i = 0; i < N && !k.empty(); ++i) {
      const int x = symbols.x(static_cast<int>(i));
      at[x] = graph.add(graph.symbol(x), graph.multiply(step, k[i]));
    }
    return graph.substitute(f, at);
  };
  const Nodes k1 = slope(0, {}), k2 = slope(0.5, k1), k3 = slope(0.5, k2), k4 = slope(1, k3);
  const Node sixth = graph.divide(h, graph.constant(6));
  Nodes next;
  for (std::size_t i = 0; i < N; ++i) {
    const Node middle = graph.multiply(graph.constant(2), graph.add(k2[i], k3[i]));
    const Node sum = graph.add(graph.add(k1[i], k4[i]), middle);
    next.push_back(
        graph.add(graph.symbol(symbols.x(static_cast<int>(i))), graph.multiply(sixth, sum)));
  }
  return next;
}

Nodes taylor_step(Graph& graph, const Symbols& symbols, std::span<const Node> f, int order,
                  Node h) {
  const int N = symbols.states;
  Nodes term, sum;
  for (int i = 0; i < N; ++i) term.push_back(graph.symbol(symbols.x(i)));
  sum = term;
  Node factor = graph.constant(1);
  for (int n = 1; n <= order; ++n) {
    factor = graph.divide(graph.multiply(factor, h), graph.constant(n));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const Node before = term[i];
      term[i] = sum_of_products(
          graph, N, [&](int j) { return graph.derivative(before, symbols.x(j)); },
          [&](int j) { return f[static_cast<std::size_t>(j)]; });
      sum[i] = graph.add(sum[i], graph.multiply(factor, term[i]));
    }
  }
  return sum;
}

Nodes rk4_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f, int substeps) {
  const Nodes next = rk4_step(graph, symbols, f, part_of_step(graph, symbols, substeps));
  Nodes x = next;
  for (int s = 1; s < substeps; ++s) {
    require_size(graph);
    std::map<int, Node> at;
    for (int i = 0; i < symbols.states; ++i) at[symbols.x(i)] = x[static_cast<std::size_t>(i)];
    x = graph.substitute(next, at);
  }
  return x;
}

Nodes taylor_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f, int order) {
  return taylor_step(graph, symbols, f, order, graph.symbol(symbols.dt()));
}

FlowNodes noisy_rk4_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f,
                         int substeps) {
  const Node h = part_of_step(graph, symbols, substeps);
  return flow_over(graph, symbols, f, substeps, h, rk4_step(graph, symbols, f, h));
}

FlowNodes noisy_taylor_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f,
                            int order) {
  const Node dt = graph.symbol(symbols.dt());
  return flow_over(graph, symbols, f, 1, dt, taylor_step(graph, symbols, f, order, dt));
}

FlowNodes noisy_known_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f,
                           const Nodes& next) {
  return flow_over(graph, symbols, f, 1, graph.symbol(symbols.dt()), next);
}

LinearNodes frozen_map(Graph& graph, const Symbols& symbols, std::span<const Node> A, int order) {
  const int N = symbols.states;
  const Node dt = graph.symbol(symbols.dt());
  const auto at = [N](int i, int j) { return static_cast<std::size_t>(i * N + j); };
  LinearNodes result;
  result.F.assign(A.size(), graph.constant(0));
  for (int i = 0; i < N; ++i) result.F[at(i, i)] = graph.constant(1);
  Nodes term = result.F;
  for (int n = 1; n <= order; ++n) {
    Nodes product(A.size());
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        const Node sum = sum_of_products(
            graph, N, [&](int k) { return term[at(i, k)]; }, [&](int k) { return A[at(k, j)]; });
        product[at(i, j)] = graph.divide(graph.multiply(sum, dt), graph.constant(n));
      }
    term = product;
    for (std::size_t i = 0; i < A.size(); ++i) result.F[i] = graph.add(result.F[i], term[i]);
  }
  result.e.assign(static_cast<std::size_t>(N), graph.constant(0));
  return result;
}

Nodes matrix_times_state(Graph& graph, const Symbols& symbols, std::span<const Node> A) {
  const int N = symbols.states;
  Nodes f;
  for (int i = 0; i < N; ++i)
    f.push_back(sum_of_products(
        graph, N, [&](int j) { return A[static_cast<std::size_t>(i * N + j)]; },
        [&](int j) { return graph.symbol(symbols.x(j)); }));
  return f;
}

}  // namespace kalmia::prior
