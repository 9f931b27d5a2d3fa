// An expert from equations: a user's own, or those of a named expert.
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "expr/parse.hpp"
#include "expr/program.hpp"
#include "expr/symbol_table.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

class EquationReader {
 public:
  // `exact_flow`: where the derivatives lead over dt; empty: by integration.
  EquationReader(const System& system, const std::vector<std::string>& channels,
                 const std::vector<std::string>& inputs, int added,
                 const std::vector<Equation>& exact_flow = {})
      : system_(system), channels_(channels), inputs_(inputs), exact_flow_(exact_flow) {
    draft_.symbols.added = added;
  }

  ExpertDraft read() {
    add_symbols();
    set_map();
    set_measure();
    set_initial();
    find_unused_names();
    return std::move(draft_);
  }

  // The place of the first expression that is not finite at a point (the symbols' values), or whose
  // derivatives by the states are not. After read().
  std::string undefined_at(std::vector<double> point, ExpertDraft& draft) const {
    // All at once: definitions share what they are made of. Derivatives of what no equation uses
    // are made here; where they swell, the rest is not looked at.
    Nodes wanted;
    for (const auto& [place, node] : placed_) {
      if (draft.graph.size() > 2 * kMostNodes) break;
      wanted.push_back(node);
      for (int j = 0; j < draft.symbols.states; ++j)
        wanted.push_back(draft.graph.derivative(node, draft.symbols.x(j)));
    }
    const std::vector<double> values =
        expr::evaluate(expr::Program(draft.graph, wanted, draft.symbols.count()), point);
    const auto bad =
        std::ranges::find_if(values, [](double value) { return !std::isfinite(value); });
    if (bad == values.end()) return "";
    const auto each = static_cast<std::ptrdiff_t>(draft.symbols.states + 1);
    return placed_[static_cast<std::size_t>((bad - values.begin()) / each)].first;
  }

 private:
  void add_symbols() {
    if (system_.states.empty())
      throw ConfigError("system.states is empty, but a system needs at least one state");
    if (system_.states.size() > kMostStates)
      throw ConfigError("system.states has " + std::to_string(system_.states.size()) +
                        " names, but a model has at most " + std::to_string(kMostStates) +
                        " states");
    draft_.expert.name = prior_name(PriorKind::System);
    draft_.expert.physical = true;
    draft_.expert.state_names = system_.states;
    draft_.symbols.states = static_cast<int>(system_.states.size());
    // The map reads the data's inputs as they lie in the file.
    draft_.symbols.inputs = static_cast<int>(inputs_.size());
    expr::Graph& graph = draft_.graph;
    for (int i = 0; i < draft_.symbols.states; ++i)
      names_.add(system_.states[static_cast<std::size_t>(i)], draft_.x(i), "system.states");
    names_.add("dt", draft_.dt(), "system");
    for (const std::string& input : system_.inputs) {
      const int i = index_of(inputs_, input);
      if (i < 0)
        throw ConfigError("system.inputs: \"" + input +
                          "\" is no input column of the data; name the columns with inputs");
      names_.add(input, graph.symbol(draft_.symbols.u(i)), "system.inputs");
    }
    for (const Parameter& parameter : system_.parameters) add_parameter(parameter);
    for (const Equation& each : system_.define)
      names_.add(each.name, parse(each.text, "system.define." + each.name), "system.define");
  }

  void add_parameter(const Parameter& parameter) {
    const std::string place = "system.parameters." + parameter.name;
    if (!std::isfinite(parameter.value))
      throw ConfigError(place + ": the value is " + kalman::number_text(parameter.value) +
                        ", but it must be finite");
    const bool inside = parameter.learn
                            ? parameter.value > parameter.lower && parameter.value < parameter.upper
                            : true;
    if (!inside)
      throw ConfigError(place + ": the value is " + kalman::number_text(parameter.value) +
                        ", but learning must start between the bounds " +
                        kalman::number_text(parameter.lower) + " and " +
                        kalman::number_text(parameter.upper));
    ExpertParameter made;
    static_cast<Parameter&>(made) = parameter;
    names_.add(parameter.name, draft_.add_parameter(made), "system.parameters");
  }

  Node parse(const std::string& text, const std::string& place) {
    const Node node = expr::parse(draft_.graph, text, names_, place);
    if (draft_.graph.size() > kMostNodes)
      throw ConfigError(place + ": with it the equations have more than " +
                        std::to_string(kMostNodes) +
                        " operations, but that is the most that is possible; write less");
    placed_.emplace_back(place, node);
    return node;
  }

  // One expression for each state, by its name.
  Nodes per_state(const std::vector<Equation>& equations, const std::string& place) {
    Nodes nodes(system_.states.size(), Node{});
    for (const Equation& each : equations) {
      const int i = index_of(system_.states, each.name);
      if (i < 0)
        throw ConfigError(place + "." + each.name + ": there is no state of that name in " +
                          "system.states");
      if (nodes[static_cast<std::size_t>(i)].index >= 0)
        throw ConfigError(place + "." + each.name + " is given twice");
      nodes[static_cast<std::size_t>(i)] = parse(each.text, place + "." + each.name);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].index < 0)
        throw ConfigError(place + ": the equation of state " + system_.states[i] + " is missing");
    return nodes;
  }

  Nodes matrix() {
    const std::size_t N = system_.states.size();
    Nodes A;
    if (system_.matrix.size() != N)
      throw ConfigError("system.matrix has " + std::to_string(system_.matrix.size()) +
                        " rows, but there are " + std::to_string(N) + " states");
    for (std::size_t i = 0; i < N; ++i) {
      const std::string place = "system.matrix, row " + std::to_string(i + 1);
      if (system_.matrix[i].size() != N)
        throw ConfigError(place + " has " + std::to_string(system_.matrix[i].size()) +
                          " entries, but there are " + std::to_string(N) + " states");
      for (std::size_t j = 0; j < N; ++j)
        A.push_back(parse(system_.matrix[i][j], place + ", column " + std::to_string(j + 1)));
    }
    return A;
  }

  void set_map() {
    const int given =
        int{!system_.ode.empty()} + int{!system_.matrix.empty()} + int{!system_.next.empty()};
    if (given != 1)
      throw ConfigError("system: " + std::string(given == 0 ? "none" : "more than one") +
                        " of ode, matrix and next is given, but the states move by exactly one");
    expr::Graph& graph = draft_.graph;
    const Symbols& symbols = draft_.symbols;
    if (!system_.next.empty()) {
      if (!system_.integration.flow.empty())
        throw ConfigError("system.flow = \"" + system_.integration.flow +
                          "\", but it is for ode and matrix; next gives the map itself");
      draft_.map = linearised(graph, symbols, per_state(system_.next, "system.next"));
      return;
    }
    const bool is_matrix = !system_.matrix.empty();
    const auto& [flow_text, order, substeps] = system_.integration;
    const FlowKind flow =
        flow_of_name(flow_text, "system.", is_matrix).value_or(usual_flow(is_matrix));
    check_order(order, "system.", 1);
    check_ranges({flow, order, substeps}, "system.", 0);
    const Nodes A = is_matrix ? matrix() : Nodes{};
    if (flow == FlowKind::Frozen) {
      draft_.map = frozen_map(graph, symbols, A, order);
      return;
    }
    const Nodes f =
        is_matrix ? matrix_times_state(graph, symbols, A) : per_state(system_.ode, "system.ode");
    if (!exact_flow_.empty()) {
      draft_.set_flow(noisy_known_flow(graph, symbols, f, per_state(exact_flow_, "system.flow")));
      return;
    }
    draft_.set_flow(flow == FlowKind::Rk4 ? noisy_rk4_flow(graph, symbols, f, std::max(substeps, 1))
                                          : noisy_taylor_flow(graph, symbols, f, order));
  }

  void set_measure() {
    Expert& expert = draft_.expert;
    expert.states.assign(system_.states.size(), StateKind{-1, 0});
    refuse_twice(system_.measure, "system.measure");
    for (const Equation& each : system_.measure)
      if (index_of(channels_, each.name) < 0)
        throw ConfigError("system.measure." + each.name +
                          ": the data have no measured column of that name");
    for (std::size_t m = 0; m < channels_.size(); ++m) {
      const auto given =
          std::find_if(system_.measure.begin(), system_.measure.end(),
                       [&](const Equation& each) { return each.name == channels_[m]; });
      const std::string place = "system.measure." + channels_[m];
      if (given == system_.measure.end() && index_of(system_.states, channels_[m]) < 0)
        throw ConfigError(place + " is missing: the measured column " + channels_[m] +
                          " is no state, so it needs an expression");
      const Node h = given == system_.measure.end()
                         ? draft_.x(index_of(system_.states, channels_[m]))
                         : parse(given->text, place);
      refuse_step_and_inputs(h, place);
      draft_.measure.push_back(h);
      const expr::Entry& entry = draft_.graph[h];
      const bool is_state = entry.op == expr::Op::Symbol && entry.symbol < draft_.symbols.states;
      expert.measured_state.push_back(is_state ? entry.symbol : -1);
      if (is_state)
        expert.states[static_cast<std::size_t>(entry.symbol)] = {static_cast<int>(m), 0};
    }
  }

  void refuse_step_and_inputs(Node h, const std::string& place) {
    for (int i = draft_.symbols.dt(); i < draft_.symbols.theta(0); ++i)
      if (!draft_.graph.is_constant(draft_.graph.derivative(h, i), 0))
        throw ConfigError(place + ": what is measured may depend on states and parameters, but " +
                          "not on dt or an input");
  }

  static void refuse_twice(const auto& named, const std::string& place) {
    std::set<std::string> seen;
    for (const auto& each : named)
      if (!seen.insert(each.name).second)
        throw ConfigError(place + "." + each.name + " is given twice");
  }

  // A learned parameter that no equation uses would be reported as learned where it started; others
  // are noted.
  void find_unused_names() {
    Nodes roots = draft_.map.F;
    roots.insert(roots.end(), draft_.map.e.begin(), draft_.map.e.end());
    roots.insert(roots.end(), draft_.measure.begin(), draft_.measure.end());
    std::set<int> used;
    for (const Node node : draft_.graph.order(roots))
      if (draft_.graph[node].op == expr::Op::Symbol) used.insert(draft_.graph[node].symbol);
    for (std::size_t i = 0; i < draft_.expert.parameters.size(); ++i) {
      const ExpertParameter& parameter = draft_.expert.parameters[i];
      if (used.contains(draft_.symbols.theta(static_cast<int>(i)))) continue;
      if (parameter.learn)
        throw ConfigError("system.parameters." + parameter.name +
                          ": it is to be learned, but no equation uses it; use it or leave it out");
      draft_.expert.unused.push_back(parameter.name);
    }
    const std::set<std::string_view> mentioned = mentioned_names();
    for (const Equation& each : system_.define)
      if (!mentioned.contains(each.name)) draft_.expert.unused.push_back(each.name);
  }

  // The words in equations and definitions, names among them.
  std::set<std::string_view> mentioned_names() const {
    std::set<std::string_view> words;
    const auto add = [&](std::string_view text) {
      for (std::size_t at = 0; at < text.size(); ++at) {
        if (!expr::continues_name(text[at])) continue;
        const std::size_t begin = at;
        while (at < text.size() && expr::continues_name(text[at])) ++at;
        words.insert(text.substr(begin, at - begin));
      }
    };
    for (const auto* equations :
         {&system_.define, &system_.ode, &system_.next, &system_.measure, &exact_flow_})
      for (const Equation& each : *equations) add(each.text);
    for (const auto& row : system_.matrix)
      for (const std::string& entry : row) add(entry);
    return words;
  }

  void set_initial() {
    refuse_twice(system_.initial, "system.initial");
    for (const InitialState& each : system_.initial) {
      const std::string place = "system.initial." + each.name;
      if (index_of(system_.states, each.name) < 0)
        throw ConfigError(place + ": there is no state of that name in system.states");
      if (!std::isfinite(each.mean) || !(each.std > 0) || !std::isfinite(each.std))
        throw ConfigError(place + ": mean " + kalman::number_text(each.mean) + ", std " +
                          kalman::number_text(each.std) +
                          ", but both must be finite and std above 0");
      draft_.expert.initial.push_back(each);
    }
  }

  const System& system_;
  const std::vector<std::string>& channels_;
  const std::vector<std::string>& inputs_;
  const std::vector<Equation> exact_flow_;
  ExpertDraft draft_;
  expr::SymbolTable names_;
  std::vector<std::pair<std::string, Node>> placed_;  // every expression and where it stands
};

}  // namespace

ExpertDraft draft_system(const System& system, const std::vector<std::string>& channels,
                         const std::vector<std::string>& inputs, int added) {
  return EquationReader(system, channels, inputs, added).read();
}

ExpertDraft draft_exact_flow(const System& system, const std::vector<Equation>& flow,
                             const std::vector<std::string>& channels, int added) {
  return EquationReader(system, channels, {}, added, flow).read();
}

std::string undefined_at(const System& system, const std::vector<std::string>& channels,
                         const std::vector<std::string>& inputs, const SystemState& state) {
  EquationReader reader(system, channels, inputs, 0);
  ExpertDraft draft = reader.read();
  std::vector<double> point = state.x;
  point.push_back(state.dt);
  point.insert(point.end(), state.u.begin(), state.u.end());
  for (const Parameter& parameter : system.parameters) point.push_back(parameter.value);
  return reader.undefined_at(std::move(point), draft);
}

}  // namespace kalmia::prior
