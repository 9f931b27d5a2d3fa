#include "prior/expert_draft.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kalmia/error.hpp"
#include "prior/departure.hpp"
#include "prior/linear_flow.hpp"
#include "prior/program_flow.hpp"
#include "prior/program_map.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;

// Sets H, and the nonlinear emission if there is one.
void set_emission(ExpertDraft& draft) {
  Expert& expert = draft.expert;
  const int N = draft.symbols.states;
  if (draft.measure.empty()) {
    expert.H.assign(expert.measured_state.size() * static_cast<std::size_t>(N), 0.0);
    for (std::size_t m = 0; m < expert.measured_state.size(); ++m)
      expert
          .H[m * static_cast<std::size_t>(N) + static_cast<std::size_t>(expert.measured_state[m])] =
          1;
    return;
  }
  std::map<int, Node> at_zero;
  for (int j = 0; j < N; ++j) at_zero[draft.symbols.x(j)] = draft.graph.constant(0);
  bool linear = true;
  for (const Node h : draft.measure) {
    linear = linear && draft.graph.is_constant(draft.graph.substitute(h, at_zero), 0);
    for (int j = 0; j < N; ++j) {
      const Node d = draft.graph.derivative(h, draft.symbols.x(j));
      linear = linear && draft.graph.is_constant(d);
      expert.H.push_back(draft.graph.is_constant(d) ? draft.graph[d].value : 0.0);
    }
  }
  if (!linear)
    expert.emission = std::make_shared<ProgramEmission>(draft.graph, draft.symbols, draft.measure);
}

bool is_linear(ExpertDraft& draft) {
  const auto reads_states = [&](Node node) {
    for (int j = 0; j < draft.symbols.states; ++j)
      if (!draft.graph.is_constant(draft.graph.derivative(node, draft.symbols.x(j)), 0))
        return true;
    return false;
  };
  for (const Nodes* nodes : {&draft.map.F, &draft.map.e})
    if (std::any_of(nodes->begin(), nodes->end(), reads_states)) return false;
  for (const Node h : draft.measure)
    for (int j = 0; j < draft.symbols.states; ++j)
      if (reads_states(draft.graph.derivative(h, draft.symbols.x(j)))) return false;
  return true;
}

std::vector<int> inputs_read(const ExpertDraft& draft) {
  Nodes roots = draft.map.F;
  roots.insert(roots.end(), draft.map.e.begin(), draft.map.e.end());
  std::set<int> read;
  for (const Node node : draft.graph.order(roots))
    if (draft.graph[node].op == expr::Op::Symbol) read.insert(draft.graph[node].symbol);
  std::vector<int> inputs;
  for (int i = 0; i < draft.symbols.inputs; ++i)
    if (read.contains(draft.symbols.u(i))) inputs.push_back(i);
  return inputs;
}

// Every state must reach a channel: directly, or through the states it moves.
void check_observable(ExpertDraft& draft) {
  const int N = draft.symbols.states;
  std::set<int> seen;
  for (int j = 0; j < N; ++j) {
    if (draft.measure.empty()) {
      for (const int measured : draft.expert.measured_state)
        if (measured == j) seen.insert(j);
    } else {
      for (const Node h : draft.measure)
        if (!draft.graph.is_constant(draft.graph.derivative(h, draft.symbols.x(j)), 0))
          seen.insert(j);
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        const Node F = draft.map.F[static_cast<std::size_t>(i * N + j)];
        if (seen.contains(i) && !seen.contains(j) && !draft.graph.is_constant(F, 0)) {
          seen.insert(j);
          grown = true;
        }
      }
  }
  for (int j = 0; j < N; ++j)
    if (!seen.contains(j))
      throw ConfigError("prior " + draft.expert.name + ": state " +
                        draft.expert.state_names[static_cast<std::size_t>(j)] +
                        " cannot be seen: no measured column depends on it, directly or through "
                        "the states it moves; leave it out, or measure something it moves");
}

}  // namespace

Node ExpertDraft::add_parameter(const ExpertParameter& parameter) {
  expert.parameters.push_back(parameter);
  return graph.symbol(symbols.theta(symbols.parameters++));
}

std::string_view derivative_suffix(int derivative) {
  constexpr std::string_view suffixes[] = {"", "_rate", "_acceleration"};
  return suffixes[derivative];
}

Expert finish(ExpertDraft& draft, const ExpertSpec& spec,
              const std::vector<std::string>& channels) {
  check_observable(draft);
  add_departure(draft, spec);
  if (adds_parts(spec)) add_parts(draft, spec, channels);
  set_emission(draft);
  require_size(draft.graph);
  draft.expert.linear = is_linear(draft);
  draft.expert.inputs_read = inputs_read(draft);
  const bool exact = !(spec.departure > 0);
  if (exact && !draft.A.empty())
    draft.expert.map = std::make_shared<LinearFlowMap>(draft.graph, draft.symbols, draft.A);
  else if (exact && !draft.noise.empty())
    draft.expert.map =
        std::make_shared<ProgramFlowMap>(draft.graph, draft.symbols, draft.map, draft.noise);
  else
    draft.expert.map = std::make_shared<ProgramMap>(draft.graph, draft.symbols, draft.map);
  return std::move(draft.expert);
}

}  // namespace kalmia::prior
