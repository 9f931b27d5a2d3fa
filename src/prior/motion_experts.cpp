// Experts that hold for any channel in any unit: each channel is a sum of parts, each with a block
// of states whose first is what it adds to the value, with derivatives per time step (so that dt is
// 1 in a usual step). All but autoregressions are linear systems in continuous time.
#include <algorithm>
#include <numbers>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

using expr::Node;
using expr::Op;

constexpr double kStartRate = 0.05;  // damping, per step
constexpr double kStartFastRate = 0.2;
constexpr double kStartFrequency = 0.3;
constexpr int kDefaultLags = 2;

// The states of one part of one channel: a linear system in continuous time and its flow over dt.
// Entries by rows.
struct Block {
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

// Puts a block (size x size, entries by rows) on the diagonal of a matrix.
void put_block(int N, int begin, int size, const Nodes& block, Nodes& matrix) {
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      matrix[static_cast<std::size_t>((begin + i) * N + begin + j)] =
          block[static_cast<std::size_t>(i * size + j)];
}

// The value moves on with its derivatives, the last of which stays: entry (i, j) of F is
// dt^(j-i) / (j-i)!.
Block motion_block(ExpertDraft& draft, int derivatives) {
  expr::Graph& g = draft.graph;
  const int size = derivatives + 1;
  Block block;
  block.A.assign(static_cast<std::size_t>(size * size), g.constant(0));
  block.F = block.A;
  for (int i = 0; i < size; ++i) {
    Node entry = g.constant(1);
    block.F[static_cast<std::size_t>(i * size + i)] = entry;
    if (i + 1 < size) block.A[static_cast<std::size_t>(i * size + i + 1)] = g.constant(1);
    for (int j = i + 1; j < size; ++j) {
      entry = g.divide(g.multiply(entry, draft.dt()), g.constant(j - i));
      block.F[static_cast<std::size_t>(i * size + j)] = entry;
    }
  }
  return block;
}

// dx/dt = -a x.
Block reverting_block(ExpertDraft& draft, const std::string& value, double start) {
  expr::Graph& g = draft.graph;
  const Node a = add_rate(draft, "damping of " + value, start);
  return {{g.negate(a)}, {g.apply(Op::Exp, g.negate(g.multiply(a, draft.dt())))}};
}

// d^2 x / dt^2 = -stiffness x - 2 s dx/dt, whose rate is the derivative of its value:
//   A = [0, 1; -stiffness, -2 s],   F = exp(-s dt) [c + s k, k; -stiffness k, c - s k]
Block second_order_block(ExpertDraft& draft, Node s, Node stiffness, Node c, Node k) {
  expr::Graph& g = draft.graph;
  const Node decay = g.apply(Op::Exp, g.negate(g.multiply(s, draft.dt())));
  const Node sk = g.multiply(s, k);
  Block block;
  block.A = {g.constant(0), g.constant(1), g.negate(stiffness),
             g.negate(g.multiply(g.constant(2), s))};
  block.F = {g.multiply(decay, g.add(c, sk)), g.multiply(decay, k),
             g.multiply(decay, g.negate(g.multiply(stiffness, k))),
             g.multiply(decay, g.subtract(c, sk))};
  return block;
}

// Two rates of decay, a and b: the value returns to its mean, its rate to 0. stiffness = a b,
// s = (a + b) / 2, c = cosh(d dt), k = sinh(d dt) / d with d = (a - b) / 2.
Block damped_block(ExpertDraft& draft, const std::string& value) {
  expr::Graph& g = draft.graph;
  const Node a = add_rate(draft, "damping of " + value, kStartRate);
  const Node b =
      add_rate(draft, "damping of " + value + std::string(derivative_suffix(1)), kStartFastRate);
  const Node half = g.constant(0.5);
  const Node d = g.multiply(half, g.subtract(a, b));
  const Node angle = g.multiply(d, draft.dt());
  return second_order_block(draft, g.multiply(half, g.add(a, b)), g.multiply(a, b),
                            g.apply(Op::Cosh, angle), g.divide(g.apply(Op::Sinh, angle), d));
}

// The value oscillates: stiffness = a^2 + w^2, s = a, c = cos(w dt), k = sin(w dt) / w.
Block oscillator_block(ExpertDraft& draft, const std::string& value, double frequency) {
  expr::Graph& g = draft.graph;
  const Node a = add_rate(draft, "damping of " + value, kStartRate);
  const Node w = add_rate(draft, "frequency of " + value, frequency);
  const Node angle = g.multiply(w, draft.dt());
  return second_order_block(draft, a, g.add(g.multiply(a, a), g.multiply(w, w)),
                            g.apply(Op::Cos, angle), g.divide(g.apply(Op::Sin, angle), w));
}

// A velocity v that oscillates, and the value that follows it: with c = 2 s and the second-order
// block B of v and its rate, of stiffness k,
//   A = [0, 1, 0; 0, 0, 1; 0, -k, -c],
//   F = [1, (c - B21 - c B11) / k, (1 - B22 - c B12) / k; 0, B11, B12; 0, B21, B22],
// since k times the way of x is what dv/dt + c v loses.
Block damped_acceleration_block(ExpertDraft& draft, const std::string& value) {
  expr::Graph& g = draft.graph;
  const std::string velocity = value + std::string(derivative_suffix(1));
  const Node s = add_rate(draft, "damping of " + velocity, kStartRate);
  const Node w = add_rate(draft, "frequency of " + velocity, kStartFrequency);
  const Node c = g.multiply(g.constant(2), s);
  const Node k = g.add(g.multiply(s, s), g.multiply(w, w));
  const Node angle = g.multiply(w, draft.dt());
  const Nodes B =
      second_order_block(draft, s, k, g.apply(Op::Cos, angle), g.divide(g.apply(Op::Sin, angle), w))
          .F;
  const Node zero = g.constant(0), one = g.constant(1);
  const Node by_v = g.divide(g.subtract(g.subtract(c, B[2]), g.multiply(c, B[0])), k);
  const Node by_a = g.divide(g.subtract(g.subtract(one, B[3]), g.multiply(c, B[1])), k);
  return {{zero, one, zero, zero, zero, one, zero, g.negate(k), g.negate(c)},
          {one, by_v, by_a, zero, B[0], B[1], zero, B[2], B[3]}};
}

// A velocity that fades: dx/dt = v, dv/dt = -b v.
//   A = [0, 1; 0, -b],   F = [1, (1 - exp(-b dt)) / b; 0, exp(-b dt)]
Block damped_trend_block(ExpertDraft& draft, const std::string& value, double start) {
  expr::Graph& g = draft.graph;
  const Node zero = g.constant(0), one = g.constant(1);
  const Node b = add_rate(draft, "damping of " + value + std::string(derivative_suffix(1)), start);
  const Node decay = g.apply(Op::Exp, g.negate(g.multiply(b, draft.dt())));
  return {{zero, one, zero, g.negate(b)}, {one, g.divide(g.subtract(one, decay), b), zero, decay}};
}

// Harmonic h of a period turns a pair of states by w dt, w = 2 pi h / period:
//   A = [0, w; -w, 0],   F = [cos(w dt), sin(w dt); -sin(w dt), cos(w dt)]
// What is added is the sum of the first states of all pairs.
Block season_block(ExpertDraft& draft, double period, int harmonics) {
  expr::Graph& g = draft.graph;
  const int size = 2 * harmonics;
  Block block;
  block.A.assign(static_cast<std::size_t>(size * size), g.constant(0));
  block.F = block.A;
  for (int h = 1; h <= harmonics; ++h) {
    const Node w = g.constant(2 * std::numbers::pi * h / period);
    const Node angle = g.multiply(w, draft.dt());
    const Node c = g.apply(Op::Cos, angle), s = g.apply(Op::Sin, angle);
    const int begin = 2 * (h - 1);
    put_block(size, begin, 2, {g.constant(0), w, g.negate(w), g.constant(0)}, block.A);
    put_block(size, begin, 2, {c, s, g.negate(s), c}, block.F);
  }
  return block;
}

// x[k] = sum over j of a_j x[k-j]; the states are the last values.
Block autoregressive_block(ExpertDraft& draft, const std::string& value, int lags) {
  expr::Graph& g = draft.graph;
  Nodes block(static_cast<std::size_t>(lags * lags), g.constant(0));
  for (int j = 0; j < lags; ++j) {
    ExpertParameter a;
    a.name = "lag " + std::to_string(j + 1) + " of " + value;
    a.value = j == 0 ? 0.9 : 0;
    a.learn = true;
    block[static_cast<std::size_t>(j)] = draft.add_parameter(a);
    if (j > 0) block[static_cast<std::size_t>(j * lags + j - 1)] = g.constant(1);
  }
  return {{}, block};
}

// The block of one part; `value`: the name of what it adds.
Block block_of(const Part& part, ExpertDraft& draft, const std::string& value) {
  const bool timed = part.scale > 0;
  switch (part.kind) {
    case PartKind::Ar:
      return autoregressive_block(draft, value, part.count);
    case PartKind::Memory:
      return reverting_block(draft, value, timed ? 1 / part.scale : kStartRate);
    case PartKind::DampedTrend:
      return damped_trend_block(draft, value, timed ? 1 / part.scale : kStartFastRate);
    case PartKind::DampedVelocity:
      return damped_block(draft, value);
    case PartKind::DampedAcceleration:
      return damped_acceleration_block(draft, value);
    case PartKind::Oscillator:
      return oscillator_block(draft, value,
                              timed ? 2 * std::numbers::pi / part.scale : kStartFrequency);
    case PartKind::Season:
      return season_block(draft, part.scale, part.count);
    case PartKind::Level:
    case PartKind::Trend:
    case PartKind::Acceleration:
      break;
  }
  return motion_block(draft, part_states(part) - 1);
}

// The part that carries the mean of a channel: the first that wanders, or else the first that is no
// season, or else the first.
int base_of(const std::vector<Part>& parts) {
  const auto first = [&](auto&& is) {
    const auto found = std::ranges::find_if(parts, is);
    return found == parts.end() ? -1 : static_cast<int>(found - parts.begin());
  };
  const int level = first(carries_level);
  if (level >= 0) return level;
  return std::max(0, first([](const Part& part) { return part.kind != PartKind::Season; }));
}

// State d of a part, what it is and what it is called; `value`: the name of what the part adds.
void add_state(const Part& part, int d, StateKind state, bool base, const std::string& value,
               Expert& expert) {
  std::string name = value;
  state.holds_mean = base;
  if (part.kind == PartKind::Season) {
    state.role = StateRole::Cycle;
    state.holds_mean = base && d == 0;
    name += (d % 2 == 0 ? "_cos" : "_sin") + std::to_string(d / 2 + 1);
  } else if (part.kind == PartKind::Ar) {
    if (d > 0) {
      state.role = StateRole::Remembered;
      name += "_lag" + std::to_string(d);
    }
  } else {
    state.derivative = d;
    name += derivative_suffix(d);
  }
  expert.states.push_back(state);
  expert.state_names.push_back(name);
}

// What a part's states add to a channel: the first, and of a season the first of every pair.
Node added(ExpertDraft& draft, const Part& part, int begin) {
  Node sum = draft.x(begin);
  if (part.kind == PartKind::Season)
    for (int h = 1; h < part.count; ++h) sum = draft.graph.add(sum, draft.x(begin + 2 * h));
  return sum;
}

// Draws the parts of one channel after another into a draft whose map is large enough for all.
class SumDrawing {
 public:
  // `first`: where the states of the parts begin.
  SumDrawing(ExpertDraft& draft, int first, const std::vector<Part>& parts,
             const std::vector<std::string>& channels)
      : draft_(draft),
        alone_(first == 0),
        parts_(parts),
        labels_(part_labels(parts)),
        channels_(channels) {
    for (std::size_t m = 0; m < channels.size(); ++m)
      any_sum_ = any_sum_ || is_sum(parts_of_channel(parts, static_cast<int>(m)));
  }

  // The blocks of the parts, in the order of their states.
  struct Placed {
    int begin = 0, size = 0;
    Block block;
  };

  std::vector<Placed> draw() {
    name_parts();
    for (std::size_t m = 0; m < channels_.size(); ++m) draw_channel(static_cast<int>(m));
    return std::move(placed_);
  }

 private:
  // Whether the parts of a channel are a sum. One part alone is the channel itself, but for a
  // season, which is a sum by itself.
  bool is_sum(const std::vector<Part>& own) const {
    return !alone_ || own.size() > 1 || own[0].kind == PartKind::Season;
  }

  // One part that all channels have and that is no sum has no name of its own.
  void name_parts() {
    if (parts_.size() == 1 && parts_[0].channel == kAllChannels && !any_sum_) return;
    for (const std::string& label : labels_)
      if (std::ranges::find(names(), label) == names().end()) names().push_back(label);
  }

  void draw_channel(int m) {
    Expert& expert = draft_.expert;
    const std::vector<Part> own = parts_of_channel(parts_, m);
    if (own.empty()) return;
    const bool sum = is_sum(own);
    const std::string& channel = channels_[static_cast<std::size_t>(m)];
    const int measured = sum ? -1 : expert.state_dim();
    if (alone_)
      expert.measured_state.push_back(measured);
    else
      expert.measured_state[static_cast<std::size_t>(m)] = measured;
    expr::Node value =
        alone_ ? draft_.graph.constant(0) : draft_.measure[static_cast<std::size_t>(m)];
    int drawn = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      if (!part.is_of(m)) continue;
      const int begin = expert.state_dim();
      draw_part(part, place_of(labels_[p]), m, alone_ && drawn == base_of(own),
                channel + (sum ? "_" + labels_[p] : ""));
      const Node adds = added(draft_, part, begin);
      value = alone_ && drawn == 0 ? adds : draft_.graph.add(value, adds);
      ++drawn;
    }
    if (!alone_)
      draft_.measure[static_cast<std::size_t>(m)] = value;
    else if (any_sum_)
      draft_.measure.push_back(value);
  }

  // `place`: which of Expert::parts; `value`: the name of what the part adds to channel m.
  void draw_part(const Part& part, int place, int m, bool base, const std::string& value) {
    const int begin = draft_.expert.state_dim(), size = part_states(part);
    for (int d = 0; d < size; ++d)
      add_state(part, d, {.channel = m, .part = place}, base, value, draft_.expert);
    placed_.push_back({begin, size, block_of(part, draft_, value)});
    if (part.kind == PartKind::Season)
      draft_.expert.longest_period = std::max(draft_.expert.longest_period, part.scale);
  }

  int place_of(const std::string& label) {
    const auto found = std::ranges::find(names(), label);
    return found == names().end() ? 0 : static_cast<int>(found - names().begin());
  }

  std::vector<std::string>& names() { return draft_.expert.parts; }

  ExpertDraft& draft_;
  const bool alone_;
  const std::vector<Part>& parts_;
  const std::vector<std::string> labels_;
  const std::vector<std::string>& channels_;
  std::vector<Placed> placed_;
  bool any_sum_ = false;
};

bool any_step(const std::vector<Part>& parts) {
  return std::ranges::all_of(parts, [](const Part& part) { return prior::any_step(part); });
}

// A matrix of n x n entries as the upper left corner of one of N x N.
Nodes enlarged(expr::Graph& graph, const Nodes& matrix, int n, int N) {
  Nodes large(static_cast<std::size_t>(N * N), graph.constant(0));
  put_block(N, 0, n, matrix, large);
  return large;
}

// The flow of a block over a share of the step, whose length counts in usual steps.
Nodes over_share(ExpertDraft& draft, const Nodes& F, double share, double usual_step) {
  expr::Graph& g = draft.graph;
  return g.substitute(
      F, {{draft.symbols.dt(), g.multiply(g.constant(share / usual_step), draft.dt())}});
}

// Names of states tell them apart in files.
void refuse_same_names(const Expert& expert) {
  const auto parts = expert.state_names.begin() + expert.map_states;
  for (auto name = parts; name != expert.state_names.end(); ++name)
    if (std::find(expert.state_names.begin(), parts, *name) != parts)
      throw ConfigError("prior " + expert.name + ": the state " + *name +
                        " has the name of a state of a part; rename it");
}

}  // namespace

std::vector<Part> motion_parts(const ExpertSpec& spec) {
  switch (spec.kind) {
    case PriorKind::ConstantPosition:
      return {{PartKind::Level}};
    case PriorKind::MeanReverting:
      return {{PartKind::Memory}};
    case PriorKind::ConstantVelocity:
      return {{PartKind::Trend}};
    case PriorKind::DampedVelocity:
      return {{PartKind::DampedVelocity}};
    case PriorKind::ConstantAcceleration:
      return {{PartKind::Acceleration}};
    case PriorKind::Oscillator:
      return {{PartKind::Oscillator}};
    case PriorKind::Ar:
      return {{PartKind::Ar, 0, spec.lags > 0 ? spec.lags : kDefaultLags}};
    default:
      return spec.parts;
  }
}

std::vector<ChannelPart> channel_parts(const ExpertSpec& spec, int channels, int first) {
  if (prior_entry(spec.kind).family != PriorFamily::Motion && !adds_parts(spec)) return {};
  const std::vector<Part> parts = motion_parts(spec);
  std::vector<ChannelPart> found;
  int begin = first;
  for (int m = 0; m < channels; ++m)
    for (const Part& part : parts_of_channel(parts, m)) {
      found.push_back({part, m, begin});
      begin += part_states(part);
    }
  return found;
}

ExpertDraft draft_sum(const std::vector<Part>& parts, const std::string& name,
                      const std::vector<std::string>& channels) {
  const std::size_t states = states_of(parts, static_cast<int>(channels.size()));
  require_states(name, states);
  const int N = static_cast<int>(states);
  ExpertDraft draft;
  draft.expert.name = name;
  draft.symbols.states = N;
  draft.map.F.assign(states * states, draft.graph.constant(0));
  draft.map.e.assign(states, draft.graph.constant(0));
  if (any_step(parts)) draft.A = draft.map.F;
  for (const auto& [begin, size, block] : SumDrawing(draft, 0, parts, channels).draw()) {
    put_block(N, begin, size, block.F, draft.map.F);
    if (!draft.A.empty()) put_block(N, begin, size, block.A, draft.A);
  }
  return draft;
}

// Process noise adds up over the step by the rule of the equations (FlowNodes), at times that are
// evenly spaced over it: a part's W at each is its flow over the rest of the step, which is known.
void add_parts(ExpertDraft& draft, const ExpertSpec& spec,
               const std::vector<std::string>& channels) {
  Symbols& symbols = draft.symbols;
  const int first = symbols.states, N = first + symbols.added;
  symbols.states = N;
  symbols.added = 0;
  draft.expert.map_states = first;
  draft.expert.parts = {prior_name(spec.kind)};
  draft.map.F = enlarged(draft.graph, draft.map.F, first, N);
  draft.map.e.resize(static_cast<std::size_t>(N), draft.graph.constant(0));
  if (!any_step(spec.parts) || spec.departure > 0) draft.noise.clear();
  for (NoiseTerm& term : draft.noise) term.W = enlarged(draft.graph, term.W, first, N);
  const auto placed = SumDrawing(draft, first, spec.parts, channels).draw();
  refuse_same_names(draft.expert);
  const double last = static_cast<double>(draft.noise.size()) - 1;
  for (const auto& [begin, size, block] : placed) {
    put_block(N, begin, size, over_share(draft, block.F, 1, spec.dt), draft.map.F);
    for (std::size_t t = 1; t < draft.noise.size(); ++t)
      put_block(N, begin, size, over_share(draft, block.F, static_cast<double>(t) / last, spec.dt),
                draft.noise[t].W);
  }
  if (draft.noise.empty()) return;
  // At the end of the step.
  for (int n = first; n < N; ++n)
    draft.noise[0].W[static_cast<std::size_t>(n * N + n)] = draft.graph.constant(1);
}

}  // namespace kalmia::prior
