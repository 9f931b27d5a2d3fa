// Experts that hold for any channel in any unit: one block of states a channel, whose first is the
// channel's value, with derivatives per time step (so that dt is 1 in a usual step).
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;
using expr::Op;

constexpr double kStartRate = 0.05;  // damping, per step
constexpr double kStartFrequency = 0.3;
constexpr int kDefaultLags = 2;
const char* const kDerivativeSuffix[] = {"", "_rate", "_acceleration"};

// Positive, learned.
Node add_rate(ExpertDraft& draft, const std::string& name, double value) {
  ExpertParameter rate;
  rate.name = name;
  rate.value = value;
  rate.learn = true;
  rate.lower = 0;
  return draft.add_parameter(rate);
}

// Puts the block of channel m (size x size, entries by rows) on the diagonal of F.
void put_block(ExpertDraft& draft, int m, int size, const Nodes& block) {
  const int N = draft.symbols.states;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      draft.map.F[static_cast<std::size_t>((m * size + i) * N + m * size + j)] =
          block[static_cast<std::size_t>(i * size + j)];
}

// The value moves on with its derivatives: entry (i, j) is dt^(j-i) / (j-i)!. If damped, the
// diagonal is exp(-rate dt): values return to their mean, rates to zero.
Nodes motion_block(ExpertDraft& draft, int m, int derivatives, bool damped) {
  expr::Graph& g = draft.graph;
  const int size = derivatives + 1;
  Nodes block(static_cast<std::size_t>(size * size), g.constant(0));
  for (int i = 0; i < size; ++i) {
    Node entry = g.constant(1);
    if (damped) {
      const std::string& state = draft.expert.state_names[static_cast<std::size_t>(m * size + i)];
      const Node rate = add_rate(draft, "damping of " + state, kStartRate);
      block[static_cast<std::size_t>(i * size + i)] =
          g.apply(Op::Exp, g.negate(g.multiply(rate, draft.dt())));
    } else {
      block[static_cast<std::size_t>(i * size + i)] = entry;
    }
    for (int j = i + 1; j < size; ++j) {
      entry = g.divide(g.multiply(entry, draft.dt()), g.constant(j - i));
      block[static_cast<std::size_t>(i * size + j)] = entry;
    }
  }
  return block;
}

// d^2 x / dt^2 = -(a^2 + w^2) x - 2 a dx/dt, exactly:
//   F = exp(-a dt) [c + a s, s; -(a^2 + w^2) s, c - a s],  c = cos(w dt), s = sin(w dt) / w.
Nodes oscillator_block(ExpertDraft& draft, int m) {
  expr::Graph& g = draft.graph;
  const std::string& channel = draft.expert.state_names[static_cast<std::size_t>(2 * m)];
  const Node a = add_rate(draft, "damping of " + channel, kStartRate);
  const Node w = add_rate(draft, "frequency of " + channel, kStartFrequency);
  const Node decay = g.apply(Op::Exp, g.negate(g.multiply(a, draft.dt())));
  const Node angle = g.multiply(w, draft.dt());
  const Node c = g.apply(Op::Cos, angle);
  const Node s = g.divide(g.apply(Op::Sin, angle), w);
  const Node as = g.multiply(a, s);
  const Node stiffness = g.add(g.multiply(a, a), g.multiply(w, w));
  return {g.multiply(decay, g.add(c, as)), g.multiply(decay, s),
          g.multiply(decay, g.negate(g.multiply(stiffness, s))),
          g.multiply(decay, g.subtract(c, as))};
}

// x[k] = sum over j of a_j x[k-j]; the states are the last values.
Nodes autoregressive_block(ExpertDraft& draft, int m, int lags) {
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
  return block;
}

}  // namespace

ExpertDraft draft_motion(const std::string& name, const std::vector<std::string>& channels,
                         int order) {
  const bool lagged = name == "ar";
  const bool damped = name == "mean-reverting" || name == "damped-velocity";
  const int size =
      lagged                            ? (order > 0 ? order : kDefaultLags)
      : name == "constant-acceleration" ? 3
      : name == "constant-velocity" || name == "damped-velocity" || name == "oscillator" ? 2
                                                                                         : 1;
  const int M = static_cast<int>(channels.size());
  ExpertDraft draft;
  Expert& expert = draft.expert;
  expert.name = name;
  for (int m = 0; m < M; ++m) {
    expert.measured_state.push_back(m * size);
    for (int d = 0; d < size; ++d) {
      expert.states.push_back({m, lagged ? 0 : d});
      const std::string& channel = channels[static_cast<std::size_t>(m)];
      expert.state_names.push_back(lagged && d > 0 ? channel + "_lag" + std::to_string(d)
                                   : lagged        ? channel
                                                   : channel + kDerivativeSuffix[d]);
    }
  }
  const auto N = static_cast<std::size_t>(M * size);
  draft.symbols.states = M * size;
  draft.map.F.assign(N * N, draft.graph.constant(0));
  draft.map.e.assign(N, draft.graph.constant(0));
  for (int m = 0; m < M; ++m)
    put_block(draft, m, size,
              lagged                 ? autoregressive_block(draft, m, size)
              : name == "oscillator" ? oscillator_block(draft, m)
                                     : motion_block(draft, m, size - 1, damped));
  return draft;
}

}  // namespace kalmia::prior
