// Named experts in the user's units.
#include <cmath>
#include <utility>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"
#include "prior/linear_motion.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;

void require_channels(const std::string& name, std::size_t found, std::size_t needed) {
  if (found != needed)
    throw ConfigError("prior " + name + " has " + std::to_string(needed) +
                      " measured channels, but the data have " + std::to_string(found) +
                      "; name the columns with measure");
}

// The map of dx/dt = A x by the flow the user asked for; `order` 0 takes `usual_order`.
void set_map(ExpertDraft& draft, const Nodes& A, const ExpertSpec& spec, int usual_order) {
  const std::string flow = spec.integration.flow.empty() ? "frozen" : spec.integration.flow;
  const int order = spec.integration.order > 0 ? spec.integration.order : usual_order;
  if (flow == "frozen") {
    draft.map = frozen_map(draft.graph, draft.symbols, A, order);
    return;
  }
  const Nodes f = matrix_times_state(draft.graph, draft.symbols, A);
  if (flow == "taylor")
    draft.set_flow(noisy_taylor_flow(draft.graph, draft.symbols, f, order));
  else if (flow == "rk4")
    draft.set_flow(
        noisy_rk4_flow(draft.graph, draft.symbols, f, std::max(1, spec.integration.substeps)));
  else
    throw ConfigError("flow = \"" + flow + "\", but it must be frozen, taylor or rk4");
}

// Paper: Sec. 8.2. Differs from the paper: it prints rho - x1 in the second row, which is not the
// Lorenz system; see docs/errata.md, item 3.
ExpertDraft draft_lorenz(const ExpertSpec& spec, const std::vector<std::string>& channels) {
  require_channels("lorenz", channels.size(), 3);
  ExpertDraft draft;
  draft.expert.state_names = channels;
  draft.expert.states = {{0, 0}, {1, 0}, {2, 0}};
  draft.expert.measured_state = {0, 1, 2};
  draft.symbols.states = 3;
  expr::Graph& g = draft.graph;
  const auto number = [&](double value) { return g.constant(value); };
  const Nodes A = {number(-10),
                   number(10),
                   number(0),  //
                   g.subtract(number(28), draft.x(2)),
                   number(-1),
                   number(0),  //
                   draft.x(1),
                   number(0),
                   number(-8.0 / 3)};
  set_map(draft, A, spec, 2);
  return draft;
}

// Paper: Sec. 8.1, two directions of position, speed and acceleration.
ExpertDraft draft_linear_motion(const ExpertSpec& spec, const std::vector<std::string>& channels) {
  require_channels("linear-motion", channels.size(), 2);
  ExpertDraft draft;
  for (int m = 0; m < 2; ++m)
    for (int d = 0; d < 3; ++d) {
      static const char* const suffix[] = {"", "_rate", "_acceleration"};
      draft.expert.states.push_back({m, d});
      draft.expert.state_names.push_back(channels[static_cast<std::size_t>(m)] + suffix[d]);
    }
  draft.expert.measured_state = {0, 3};
  draft.symbols.states = 6;
  const double block[3][3] = {{0, 1, 0}, {0, -kLinearMotionC, 1}, {0, -kLinearMotionTau, 0}};
  Nodes A(36, draft.graph.constant(0));
  for (int i = 0; i < 6; ++i)
    for (int j = i / 3 * 3; j < i / 3 * 3 + 3; ++j)
      A[static_cast<std::size_t>(6 * i + j)] = draft.graph.constant(block[i % 3][j % 3]);
  set_map(draft, A, spec, 1);
  return draft;
}

// sin(h) / h, whose value and derivatives at 0 are no quotients of zeros: h is never less than
// `least`, and the quotient of both is right at 0. The error is below least^2 / 6 everywhere.
Node sinc(expr::Graph& g, Node h) {
  constexpr double least = 1e-5;
  const Node r = g.apply(expr::Op::Sqrt, g.add(g.multiply(h, h), g.constant(least * least)));
  return g.divide(g.divide(g.apply(expr::Op::Sin, r), r), g.constant(std::sin(least) / least));
}

// A vehicle that turns at a rate w, a state of its own: d(vx)/dt = -w vy, d(vy)/dt = w vx. Both
// channels are in one unit. Over dt, with the angle a = w dt, it is a rotation R,
//
//   v' = R(a) v,   p' = p + dt sin(a/2) / (a/2) R(a/2) v,
//
// at any rate: v keeps its length. (A polynomial in a, such as Runge and Kutta's, lengthens it in
// every step where |a| > sqrt(8), and a prediction through a gap runs away.)
ExpertDraft draft_turn(const std::vector<std::string>& channels) {
  require_channels("coordinated-turn", channels.size(), 2);
  ExpertDraft draft;
  Expert& expert = draft.expert;
  expert.state_names = {channels[0], channels[0] + "_rate", channels[1], channels[1] + "_rate",
                        "turn_rate"};
  expert.states = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {-1, 1}};
  expert.measured_state = {0, 2};
  expert.initial = {{"turn_rate", 0, 0.5}};
  draft.symbols.states = 5;
  expr::Graph& g = draft.graph;
  const Nodes f = {draft.x(1), g.negate(g.multiply(draft.x(4), draft.x(3))), draft.x(3),
                   g.multiply(draft.x(4), draft.x(1)), g.constant(0)};
  const Node a = g.multiply(draft.x(4), draft.dt()), half = g.multiply(g.constant(0.5), a);
  // R(angle) v, each component times `size` and added to `to`.
  const auto turned = [&](Node angle, Node size, Node to_x, Node to_y) {
    const Node c = g.apply(expr::Op::Cos, angle), s = g.apply(expr::Op::Sin, angle);
    const Node along = g.subtract(g.multiply(c, draft.x(1)), g.multiply(s, draft.x(3)));
    const Node across = g.add(g.multiply(s, draft.x(1)), g.multiply(c, draft.x(3)));
    return std::pair(g.add(to_x, g.multiply(size, along)), g.add(to_y, g.multiply(size, across)));
  };
  const auto [vx, vy] = turned(a, g.constant(1), g.constant(0), g.constant(0));
  const auto [px, py] = turned(half, g.multiply(draft.dt(), sinc(g, half)), draft.x(0), draft.x(2));
  draft.set_flow(noisy_known_flow(g, draft.symbols, f, {px, vx, py, vy, draft.x(4)}));
  return draft;
}

}  // namespace

ExpertDraft draft_physical(const ExpertSpec& spec, const std::vector<std::string>& channels) {
  ExpertDraft draft = spec.name == "lorenz"          ? draft_lorenz(spec, channels)
                      : spec.name == "linear-motion" ? draft_linear_motion(spec, channels)
                                                     : draft_turn(channels);
  draft.expert.name = spec.name;
  draft.expert.physical = true;
  return draft;
}

}  // namespace kalmia::prior
