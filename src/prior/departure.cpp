#include "prior/departure.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::prior {
namespace {

using expr::Graph;
using expr::Node;

// Standard deviations from the centre beyond which a state counts as no farther. Measured on
// `lorenz` with its frozen map and degree 3: no limit 0.0135, 8 of them 0.0126, 4 of them 0.0138
// (mean square error of the filter, after 150 iterations).
constexpr double kLimit = 6;
constexpr std::size_t kMostCoefficients = 2000;

// The map moves a state independently of where it is: its column of F is that of the identity.
bool invariant(const ExpertDraft& draft, int column) {
  const int N = draft.symbols.states;
  for (int i = 0; i < N; ++i)
    if (!draft.graph.is_constant(draft.map.F[static_cast<std::size_t>(i * N + column)],
                                 i == column ? 1.0 : 0.0))
      return false;
  return true;
}

std::vector<int> variable_states(const ExpertDraft& draft) {
  std::vector<int> states;
  for (int j = 0; j < draft.symbols.states; ++j)
    if (!invariant(draft, j)) states.push_back(j);
  return states;
}

ExpertParameter coefficient(const ExpertDraft& draft, int row, const std::string& of, double std) {
  ExpertParameter d;
  d.name = "departure of " + draft.expert.state_names[static_cast<std::size_t>(row)] + " by " + of;
  d.learn = true;
  d.prior_std = std;
  return d;
}

void add_matrix(ExpertDraft& draft, double std) {
  const int N = draft.symbols.states;
  const std::vector<int> columns = variable_states(draft);
  for (int i = 0; i < N; ++i)
    for (const int j : columns) {
      const std::string& name = draft.expert.state_names[static_cast<std::size_t>(j)];
      Node& F = draft.map.F[static_cast<std::size_t>(i * N + j)];
      F = draft.graph.add(F, draft.add_parameter(coefficient(draft, i, name, std)));
    }
}

// A product of Hermite's polynomials, one for each variable.
struct Term {
  std::string name;
  Node value;
};

// He_0 .. He_degree of z, over sqrt(n!): He_(n+1) = z He_n - n He_(n-1).
Nodes hermite(Graph& graph, Node z, int degree) {
  Nodes he = {graph.constant(1), z};
  for (int n = 1; n < degree; ++n)
    he.push_back(
        graph.subtract(graph.multiply(z, he.back()),
                       graph.multiply(graph.constant(n), he[static_cast<std::size_t>(n - 1)])));
  double factorial = 1;
  for (int n = 2; n <= degree; ++n) {
    factorial *= n;
    Node& each = he[static_cast<std::size_t>(n)];
    each = graph.divide(each, graph.constant(std::sqrt(factorial)));
  }
  return he;
}

// All terms of at most `degree` in the variables z, "z1^2*z3" and so on.
std::vector<Term> terms_of(Graph& graph, const Nodes& z, int degree) {
  struct Partial {
    Term term;
    int degree = 0;
  };
  std::vector<Partial> all = {{{"1", graph.constant(1)}, 0}};
  for (std::size_t j = 0; j < z.size(); ++j) {
    const Nodes he = hermite(graph, z[j], degree);
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < before; ++i)
      for (int n = 1; all[i].degree + n <= degree; ++n) {
        const Partial from = all[i];
        std::string name = from.degree == 0 ? std::string() : from.term.name + "*";
        name += 'z' + std::to_string(j + 1);
        if (n > 1) name += '^' + std::to_string(n);
        all.push_back({{name, graph.multiply(from.term.value, he[static_cast<std::size_t>(n)])},
                       from.degree + n});
      }
  }
  std::vector<Term> terms;
  for (Partial& each : all) terms.push_back(std::move(each.term));
  return terms;
}

// How many terms of at most `degree` there are in so many variables, (variables + degree over
// degree), or more than are allowed.
std::size_t term_count(std::size_t variables, int degree) {
  double count = 1;
  for (int d = 1; d <= degree; ++d) count *= static_cast<double>(variables + d) / d;
  return static_cast<std::size_t>(std::min(count + 0.5, 2.0 * kMostCoefficients));
}

void require_frame(const ExpertSpec& spec, int states) {
  const auto N = static_cast<std::size_t>(states);
  const auto fits = [](const std::vector<double>& values, std::size_t size) {
    return values.size() == size &&
           std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  const StateFrame& frame = spec.frame;
  if (!fits(frame.centre, N) || !fits(frame.whitening, N * N) || !fits(frame.step, N) ||
      !(frame.dt > 0) || !std::isfinite(frame.dt))
    throw ConfigError("prior " + prior_name(spec.kind) + ": a departure of degree " +
                      std::to_string(spec.degree) +
                      " needs a frame: a finite centre, whitening and step for each of " +
                      std::to_string(states) + " states, and a usual time step above 0");
}

// The whitened states, without those that the map moves independently of where they are.
Nodes whitened(ExpertDraft& draft, const StateFrame& frame, const std::vector<int>& variables) {
  Graph& g = draft.graph;
  const Node limit = g.constant(kLimit);
  Nodes z;
  for (const int i : variables) {
    Node sum = g.constant(0);
    for (const int j : variables) {
      const Node off =
          g.subtract(draft.x(j), g.constant(frame.centre[static_cast<std::size_t>(j)]));
      const double weight = frame.whitening[static_cast<std::size_t>(i * draft.symbols.states + j)];
      sum = g.add(sum, g.multiply(g.constant(weight / kLimit), off));
    }
    z.push_back(g.multiply(limit, g.apply(expr::Op::Tanh, sum)));
  }
  return z;
}

void add_polynomials(ExpertDraft& draft, const ExpertSpec& spec) {
  Graph& g = draft.graph;
  const int N = draft.symbols.states;
  require_frame(spec, N);
  const std::vector<int> variables = variable_states(draft);
  if (term_count(variables.size(), spec.degree) * static_cast<std::size_t>(N) > kMostCoefficients)
    throw ConfigError("degree = " + std::to_string(spec.degree) + " makes more than " +
                      std::to_string(kMostCoefficients) + " coefficients for " + std::to_string(N) +
                      " states; choose a smaller one");
  const std::vector<Term> terms = terms_of(g, whitened(draft, spec.frame, variables), spec.degree);
  const Node time = g.divide(draft.dt(), g.constant(spec.frame.dt));
  Nodes next;
  for (int i = 0; i < N; ++i) {
    Node sum = g.constant(0);
    for (const Term& term : terms) {
      const Node theta = draft.add_parameter(coefficient(draft, i, term.name, spec.departure));
      sum = g.add(sum, g.multiply(theta, term.value));
    }
    const Node step = g.constant(spec.frame.step[static_cast<std::size_t>(i)]);
    Node x =
        g.add(draft.map.e[static_cast<std::size_t>(i)], g.multiply(step, g.multiply(time, sum)));
    for (int j = 0; j < N; ++j)
      x = g.add(x, g.multiply(draft.map.F[static_cast<std::size_t>(i * N + j)], draft.x(j)));
    next.push_back(x);
  }
  draft.map = linearised(g, draft.symbols, next);
}

}  // namespace

void add_departure(ExpertDraft& draft, const ExpertSpec& spec) {
  if (!(spec.departure > 0)) return;
  if (spec.degree > 1)
    add_polynomials(draft, spec);
  else
    add_matrix(draft, spec.departure);
}

}  // namespace kalmia::prior
