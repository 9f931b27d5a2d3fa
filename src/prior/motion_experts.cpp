// Experts that hold for any channel in any unit: one block of states a channel, whose first is the
// channel's value, with derivatives per time step (so that dt is 1 in a usual step). All but
// autoregressions are linear systems in continuous time.
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;
using expr::Op;

constexpr double kStartRate = 0.05;  // damping, per step
constexpr double kStartFastRate = 0.2;
constexpr double kStartFrequency = 0.3;
constexpr int kDefaultLags = 2;

// The states of one channel: a linear system in continuous time and its flow over dt. Entries by
// rows.
struct Part {
  Nodes A;  // empty: a map from step to step, not a flow
  Nodes F;
};

// A rate is a positive parameter that is learned.
Node add_rate(ExpertDraft& draft, const std::string& name, double value) {
  ExpertParameter rate;
  rate.name = name;
  rate.value = value;
  rate.learn = true;
  rate.lower = 0;
  return draft.add_parameter(rate);
}

// Puts the block of channel m (size x size, entries by rows) on the diagonal of a matrix.
void put_block(const ExpertDraft& draft, int m, int size, const Nodes& block, Nodes& matrix) {
  const int N = draft.symbols.states;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      matrix[static_cast<std::size_t>((m * size + i) * N + m * size + j)] =
          block[static_cast<std::size_t>(i * size + j)];
}

// The value moves on with its derivatives, the last of which stays: entry (i, j) of F is
// dt^(j-i) / (j-i)!.
Part motion_part(ExpertDraft& draft, int derivatives) {
  expr::Graph& g = draft.graph;
  const int size = derivatives + 1;
  Part part;
  part.A.assign(static_cast<std::size_t>(size * size), g.constant(0));
  part.F = part.A;
  for (int i = 0; i < size; ++i) {
    Node entry = g.constant(1);
    part.F[static_cast<std::size_t>(i * size + i)] = entry;
    if (i + 1 < size) part.A[static_cast<std::size_t>(i * size + i + 1)] = g.constant(1);
    for (int j = i + 1; j < size; ++j) {
      entry = g.divide(g.multiply(entry, draft.dt()), g.constant(j - i));
      part.F[static_cast<std::size_t>(i * size + j)] = entry;
    }
  }
  return part;
}

// dx/dt = -a x.
Part reverting_part(ExpertDraft& draft, int m) {
  expr::Graph& g = draft.graph;
  const Node a = add_rate(
      draft, "damping of " + draft.expert.state_names[static_cast<std::size_t>(m)], kStartRate);
  return {{g.negate(a)}, {g.apply(Op::Exp, g.negate(g.multiply(a, draft.dt())))}};
}

// d^2 x / dt^2 = -stiffness x - 2 s dx/dt, whose rate is the derivative of its value:
//   A = [0, 1; -stiffness, -2 s],   F = exp(-s dt) [c + s k, k; -stiffness k, c - s k]
Part second_order_part(ExpertDraft& draft, Node s, Node stiffness, Node c, Node k) {
  expr::Graph& g = draft.graph;
  const Node decay = g.apply(Op::Exp, g.negate(g.multiply(s, draft.dt())));
  const Node sk = g.multiply(s, k);
  Part part;
  part.A = {g.constant(0), g.constant(1), g.negate(stiffness),
            g.negate(g.multiply(g.constant(2), s))};
  part.F = {g.multiply(decay, g.add(c, sk)), g.multiply(decay, k),
            g.multiply(decay, g.negate(g.multiply(stiffness, k))),
            g.multiply(decay, g.subtract(c, sk))};
  return part;
}

// Two rates of decay, a and b: the value returns to its mean, its rate to 0. stiffness = a b,
// s = (a + b) / 2, c = cosh(d dt), k = sinh(d dt) / d with d = (a - b) / 2.
Part damped_part(ExpertDraft& draft, int m) {
  expr::Graph& g = draft.graph;
  const std::string& channel = draft.expert.state_names[static_cast<std::size_t>(2 * m)];
  const Node a = add_rate(draft, "damping of " + channel, kStartRate);
  const Node b =
      add_rate(draft, "damping of " + channel + std::string(derivative_suffix(1)), kStartFastRate);
  const Node half = g.constant(0.5);
  const Node d = g.multiply(half, g.subtract(a, b));
  const Node angle = g.multiply(d, draft.dt());
  return second_order_part(draft, g.multiply(half, g.add(a, b)), g.multiply(a, b),
                           g.apply(Op::Cosh, angle), g.divide(g.apply(Op::Sinh, angle), d));
}

// The value oscillates: stiffness = a^2 + w^2, s = a, c = cos(w dt), k = sin(w dt) / w.
Part oscillator_part(ExpertDraft& draft, int m) {
  expr::Graph& g = draft.graph;
  const std::string& channel = draft.expert.state_names[static_cast<std::size_t>(2 * m)];
  const Node a = add_rate(draft, "damping of " + channel, kStartRate);
  const Node w = add_rate(draft, "frequency of " + channel, kStartFrequency);
  const Node angle = g.multiply(w, draft.dt());
  return second_order_part(draft, a, g.add(g.multiply(a, a), g.multiply(w, w)),
                           g.apply(Op::Cos, angle), g.divide(g.apply(Op::Sin, angle), w));
}

// x[k] = sum over j of a_j x[k-j]; the states are the last values.
Part autoregressive_part(ExpertDraft& draft, int m, int lags) {
  expr::Graph& g = draft.graph;
  Nodes block(static_cast<std::size_t>(lags * lags), g.constant(0));
  const std::string& channel = draft.expert.state_names[static_cast<std::size_t>(m * lags)];
  for (int j = 0; j < lags; ++j) {
    ExpertParameter a;
    a.name = "lag " + std::to_string(j + 1) + " of " + channel;
    a.value = j == 0 ? 0.9 : 0;
    a.learn = true;
    block[static_cast<std::size_t>(j)] = draft.add_parameter(a);
    if (j > 0) block[static_cast<std::size_t>(j * lags + j - 1)] = g.constant(1);
  }
  return {{}, block};
}

// The part of channel m.
Part part_of(PriorKind kind, ExpertDraft& draft, int m, int size) {
  switch (kind) {
    case PriorKind::Ar:
      return autoregressive_part(draft, m, size);
    case PriorKind::MeanReverting:
      return reverting_part(draft, m);
    case PriorKind::DampedVelocity:
      return damped_part(draft, m);
    case PriorKind::Oscillator:
      return oscillator_part(draft, m);
    default:
      return motion_part(draft, size - 1);
  }
}

}  // namespace

ExpertDraft draft_motion(PriorKind kind, const std::vector<std::string>& channels, int lags) {
  const bool lagged = kind == PriorKind::Ar;
  const int size = !lagged ? prior_entry(kind).flow_states : lags > 0 ? lags : kDefaultLags;
  const int M = static_cast<int>(channels.size());
  ExpertDraft draft;
  Expert& expert = draft.expert;
  expert.name = prior_name(kind);
  for (int m = 0; m < M; ++m) {
    expert.measured_state.push_back(m * size);
    for (int d = 0; d < size; ++d) {
      expert.states.push_back({m, lagged ? 0 : d});
      const std::string& channel = channels[static_cast<std::size_t>(m)];
      expert.state_names.push_back(lagged && d > 0 ? channel + "_lag" + std::to_string(d)
                                   : lagged        ? channel
                                                   : channel + std::string(derivative_suffix(d)));
    }
  }
  const auto N = static_cast<std::size_t>(M * size);
  draft.symbols.states = M * size;
  draft.map.F.assign(N * N, draft.graph.constant(0));
  draft.map.e.assign(N, draft.graph.constant(0));
  if (!lagged) draft.A = draft.map.F;
  for (int m = 0; m < M; ++m) {
    const Part part = part_of(kind, draft, m, size);
    put_block(draft, m, size, part.F, draft.map.F);
    if (!lagged) put_block(draft, m, size, part.A, draft.A);
  }
  return draft;
}

}  // namespace kalmia::prior
