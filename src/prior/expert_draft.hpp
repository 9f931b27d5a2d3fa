// An expert in the making: equations before they become code.
#pragma once

#include <string_view>
#include <utility>

#include "expr/graph.hpp"
#include "prior/dynamics.hpp"
#include "prior/expert.hpp"

namespace kalmia::prior {

struct ExpertDraft {
  Expert expert;  ///< everything but map, H and emission
  expr::Graph graph;
  Symbols symbols;
  LinearNodes map;
  /// Of a linear system in continuous time, dx/dt = A x: A (N x N), which `map` is the flow of.
  /// Empty: the map is no such flow.
  Nodes A;
  /// Of a flow of equations: how noise enters along it. Empty: in proportion to the step's length.
  std::vector<NoiseTerm> noise;
  Nodes measure;  ///< M expressions in the states; empty: the measured states

  /// A new parameter.
  expr::Node add_parameter(const ExpertParameter& parameter);
  expr::Node x(int i) { return graph.symbol(symbols.x(i)); }
  expr::Node dt() { return graph.symbol(symbols.dt()); }
  void set_flow(FlowNodes flow) {
    map = std::move(flow.map);
    noise = std::move(flow.noise);
  }
};

/// What a state's name has after that of its channel: nothing for a value, _rate, _acceleration.
std::string_view derivative_suffix(int derivative);

/// Adds the departure and the parts that `spec` describes, compiles the equations and checks that
/// every state can be seen in some channel. `channels`: those that parts are added to.
Expert finish(ExpertDraft& draft, const ExpertSpec& spec,
              const std::vector<std::string>& channels = {});

// The experts by their kind; each draws its own.
/// none: a map that is all departure, of the channels and `latent` states beside them.
ExpertDraft draft_free(const std::vector<std::string>& channels, int latent);
/// Throws ConfigError for more than kMostStates.
void require_states(const std::string& prior, std::size_t count);

/// Each channel is the sum of its parts, of which there is one at least (check_parts).
ExpertDraft draft_sum(const std::vector<Part>& parts, const std::string& name,
                      const std::vector<std::string>& channels);
/// The parts of a prior of PriorFamily::Motion.
std::vector<Part> motion_parts(const ExpertSpec& spec);
/// Equations leave room for `added` states of parts (Symbols::added).
ExpertDraft draft_physical(const ExpertSpec& spec, const std::vector<std::string>& channels,
                           int added = 0);
ExpertDraft draft_system(const System& system, const std::vector<std::string>& channels,
                         const std::vector<std::string>& inputs, int added = 0);
/// A system whose flow is known: `flow` says where system.ode leads over dt, state by state.
ExpertDraft draft_exact_flow(const System& system, const std::vector<Equation>& flow,
                             const std::vector<std::string>& channels, int added = 0);
/// Adds the parts of `spec` to equations that left room for them: the states are [the equations';
/// the parts'], what is measured is what the equations say and the sum of the channel's parts.
void add_parts(ExpertDraft& draft, const ExpertSpec& spec,
               const std::vector<std::string>& channels);

}  // namespace kalmia::prior
