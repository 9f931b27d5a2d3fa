// Named experts in the user's units. Each is a row of a table: equations, read as a user's are.
#include <algorithm>
#include <string_view>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

// The states of the equations are called after the channels y1, y2 and so on, which stand for the
// data's columns in their order: y1 is a measured value, y1_rate and y1_acceleration are its
// derivatives. A state of any other name is one that no channel measures. Constants that are known
// are definitions; parameters would be listed with every model.
struct PhysicalPrior {
  PriorKind kind;
  System system;  // with its usual order
  // Where system.ode leads over dt, where that is known; else the flow is found by integration.
  std::vector<Equation> exact_flow;
};

// Paper: Sec. 8.2. Differs from the paper: it prints rho - x1 in the second row, which is not the
// Lorenz system; see docs/errata.md, item 3.
PhysicalPrior lorenz() {
  System s;
  s.states = {"y1", "y2", "y3"};
  s.define = {{"sigma", "10"}, {"rho", "28"}, {"beta", "8/3"}};
  s.matrix = {{"-sigma", "sigma", "0"},  //
              {"rho - y3", "-1", "0"},
              {"y2", "0", "-beta"}};
  s.integration.order = 2;
  return {PriorKind::Lorenz, s, {}};
}

// Paper: Sec. 8.1, two directions of position, speed and acceleration. Differs from the paper: it
// prints -tau c in the last row; see docs/errata.md, item 2.
PhysicalPrior linear_motion() {
  System s;
  s.states = {"y1", "y1_rate", "y1_acceleration", "y2", "y2_rate", "y2_acceleration"};
  s.define = {{"c", "0.06"}, {"tau", "0.17"}};
  s.matrix = {{"0", "1", "0", "0", "0", "0"},     //
              {"0", "-c", "1", "0", "0", "0"},    //
              {"0", "-tau", "0", "0", "0", "0"},  //
              {"0", "0", "0", "0", "1", "0"},     //
              {"0", "0", "0", "0", "-c", "1"},    //
              {"0", "0", "0", "0", "-tau", "0"}};
  s.integration.order = 1;
  return {PriorKind::LinearMotion, s, {}};
}

// A vehicle that turns at a rate w, a state of its own: d(vx)/dt = -w vy, d(vy)/dt = w vx. Both
// channels are in one unit. Over dt, with the angle a = w dt, it is a rotation R,
//
//   v' = R(a) v,   p' = p + dt sin(a/2) / (a/2) R(a/2) v,
//
// at any rate: v keeps its length. (A polynomial in a, such as Runge and Kutta's, lengthens it in
// every step where |a| > sqrt(8), and a prediction through a gap runs away.)
//
// sin(h) / h must have a value and derivatives at 0 that are no quotients of zeros: h is never less
// than `least`, and the quotient is divided by its value there. The error is below least^2 / 6
// everywhere.
//
// Definitions and rows must stay in this order, which is that of the sums in the adjoint. Another
// order is the same map but for the last bit, and yet fits to data that do not turn end elsewhere:
// their likelihood hardly depends on the turn rate and has many maxima. (Measured on `simulate
// linear`, 400 steps: the last bit of one measured value moves the held-out loss by 0.009.)
PhysicalPrior coordinated_turn() {
  System s;
  s.states = {"y1", "y1_rate", "y2", "y2_rate", "turn_rate"};
  s.define = {{"ax", "-turn_rate*y2_rate"},
              {"ay", "turn_rate*y1_rate"},
              {"angle", "turn_rate*dt"},
              {"half", "angle/2"},
              {"c", "cos(angle)"},
              {"s", "sin(angle)"},
              {"vx", "-s*y2_rate + c*y1_rate"},
              {"vy", "c*y2_rate + s*y1_rate"},
              {"least", "1e-5"},
              {"h", "sqrt(half*half + least*least)"},
              {"chord", "dt*(sin(h)/h/(sin(least)/least))"},
              {"c_half", "cos(half)"},
              {"s_half", "sin(half)"},
              {"dx", "-s_half*y2_rate + c_half*y1_rate"},
              {"dy", "c_half*y2_rate + s_half*y1_rate"}};
  s.ode = {{"y1", "y1_rate"},
           {"y1_rate", "ax"},
           {"y2", "y2_rate"},
           {"y2_rate", "ay"},
           {"turn_rate", "0"}};
  s.initial = {{"turn_rate", 0, 0.5}};
  return {PriorKind::CoordinatedTurn,
          s,
          {{"y2", "y2 + chord*dy"},
           {"y2_rate", "vy"},
           {"y1", "y1 + chord*dx"},
           {"y1_rate", "vx"},
           {"turn_rate", "turn_rate"}}};
}

const std::vector<PhysicalPrior>& physical_priors() {
  static const std::vector<PhysicalPrior> priors = {coordinated_turn(), lorenz(), linear_motion()};
  return priors;
}

// y1, y2 and so on, as many as there are among the states.
std::vector<std::string> own_channels(const System& system) {
  std::vector<std::string> names;
  for (std::string next = "y1"; std::ranges::find(system.states, next) != system.states.end();
       next = std::string("y").append(std::to_string(names.size() + 1)))
    names.push_back(next);
  return names;
}

// What a state is, by its name.
StateKind kind_of(const std::string& state, const std::vector<std::string>& channels) {
  const std::string_view name = state;
  StateKind kind{-1, 0};
  for (int derivative : {1, 2})
    if (name.ends_with(derivative_suffix(derivative))) kind.derivative = derivative;
  const std::string_view of =
      name.substr(0, name.size() - derivative_suffix(kind.derivative).size());
  const auto channel = std::ranges::find(channels, of);
  if (channel != channels.end()) kind.channel = static_cast<int>(channel - channels.begin());
  return kind;
}

void require_channels(const std::string& name, std::size_t found, std::size_t needed) {
  if (found != needed)
    throw ConfigError("prior " + name + " has " + std::to_string(needed) +
                      " measured channels, but the data have " + std::to_string(found) +
                      "; name the columns with measure");
}

// The system with the flow the user asks for.
System integrated(System system, const Integration& asked) {
  if (asked.flow) system.integration.flow = flow_name(*asked.flow);
  flow_of_name(system.integration.flow, "", !system.matrix.empty());
  if (asked.order > 0) system.integration.order = asked.order;
  if (asked.substeps > 0) system.integration.substeps = asked.substeps;
  return system;
}

}  // namespace

std::vector<PriorKind> integrated_priors() {
  std::vector<PriorKind> kinds;
  for (const PhysicalPrior& prior : physical_priors())
    if (prior.exact_flow.empty()) kinds.push_back(prior.kind);
  return kinds;
}

ExpertDraft draft_physical(const ExpertSpec& spec, const std::vector<std::string>& channels,
                           int added) {
  const PhysicalPrior& prior =
      *std::ranges::find(physical_priors(), spec.kind, &PhysicalPrior::kind);
  const std::vector<std::string> own = own_channels(prior.system);
  const std::string name = prior_name(prior.kind);
  require_channels(name, channels.size(), own.size());
  ExpertDraft draft = prior.exact_flow.empty()
                          ? draft_system(integrated(prior.system, spec.integration), own, {}, added)
                          : draft_exact_flow(prior.system, prior.exact_flow, own, added);
  Expert& expert = draft.expert;
  expert.name = name;
  for (std::size_t i = 0; i < expert.states.size(); ++i) {
    const StateKind kind = kind_of(prior.system.states[i], own);
    expert.states[i] = kind;
    if (kind.channel < 0) continue;
    std::string value = channels[static_cast<std::size_t>(kind.channel)];
    if (!parts_of_channel(spec.parts, kind.channel).empty()) value += "_" + name;
    expert.state_names[i] = value + std::string(derivative_suffix(kind.derivative));
  }
  return draft;
}

}  // namespace kalmia::prior
