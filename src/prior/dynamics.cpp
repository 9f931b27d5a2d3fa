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

}  // namespace

void require_size(const Graph& graph) {
  if (graph.size() > kMostNodes)
    throw ConfigError("the equations of one step grew to " + std::to_string(graph.size()) +
                      " operations, but at most " + std::to_string(kMostNodes) +
                      " are possible; take fewer substeps or a lower order");
}

LinearNodes linearised(Graph& graph, const Symbols& symbols, std::span<const Node> next) {
  const int N = symbols.states;
  std::map<int, Node> at_zero;
  for (int i = 0; i < N; ++i) at_zero[symbols.x(i)] = graph.constant(0);
  LinearNodes result;
  for (const Node each : next) {
    Nodes row;
    for (int j = 0; j < N; ++j) {
      row.push_back(graph.derivative(each, symbols.x(j)));
      require_size(graph);
    }
    const Nodes row_at_zero = graph.substitute(row, at_zero);
    result.e.push_back(
        row_at_zero == row
            ? graph.substitute(each, at_zero)
            : graph.subtract(each,
                             sum_of_products(
                                 graph, N, [&](int j) { return row[static_cast<std::size_t>(j)]; },
                                 [&](int j) { return graph.symbol(symbols.x(j)); })));
    result.F.insert(result.F.end(), row.begin(), row.end());
  }
  return result;
}

Nodes rk4_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f, int substeps) {
  const auto N = static_cast<std::size_t>(symbols.states);
  const Node dt = graph.divide(graph.symbol(symbols.dt()), graph.constant(substeps));
  Nodes x;
  for (int i = 0; i < symbols.states; ++i) x.push_back(graph.symbol(symbols.x(i)));
  // f at x + scale dt k.
  const auto slope = [&](double scale, const Nodes& k) {
    const Node step = graph.multiply(graph.constant(scale), dt);
    std::map<int, Node> at;
    for (std::size_t i = 0; i < N; ++i)
      at[symbols.x(static_cast<int>(i))] =
          k.empty() ? x[i] : graph.add(x[i], graph.multiply(step, k[i]));
    return graph.substitute(f, at);
  };
  for (int s = 0; s < substeps; ++s) {
    require_size(graph);
    const Nodes k1 = slope(0, {}), k2 = slope(0.5, k1), k3 = slope(0.5, k2), k4 = slope(1, k3);
    const Node sixth = graph.divide(dt, graph.constant(6));
    for (std::size_t i = 0; i < N; ++i) {
      const Node middle = graph.multiply(graph.constant(2), graph.add(k2[i], k3[i]));
      const Node sum = graph.add(graph.add(k1[i], k4[i]), middle);
      x[i] = graph.add(x[i], graph.multiply(sixth, sum));
    }
  }
  return x;
}

Nodes taylor_flow(Graph& graph, const Symbols& symbols, std::span<const Node> f, int order) {
  const int N = symbols.states;
  const Node dt = graph.symbol(symbols.dt());
  Nodes term, sum;
  for (int i = 0; i < N; ++i) term.push_back(graph.symbol(symbols.x(i)));
  sum = term;
  Node factor = graph.constant(1);
  for (int n = 1; n <= order; ++n) {
    factor = graph.divide(graph.multiply(factor, dt), graph.constant(n));
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
