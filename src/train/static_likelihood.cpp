#include "train/static_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/lane_fill.hpp"
#include "kalmia/error.hpp"
#include "nn/softplus.hpp"

namespace kalmia::train {
namespace {

// A variable beyond this has left the range in which the likelihood can be computed.
constexpr double kFurthest = 1e6;
// Steps that a filter may take to find the state.
constexpr int kSearchSteps = 32;

// Whether the noise of two states may be correlated: that of all where there are few. In a sum,
// that of a part's value and its derivatives, and where there are few states, that of the same part
// and derivative in two channels, as two accelerations; the states of a season never are, nor
// values that are only remembered. States of equations may correlate with each other, not with
// parts.
bool may_correlate(const prior::Expert& expert, int i, int j) {
  if (i == j) return true;
  const bool few = expert.state_dim() <= kMostCorrelated;
  if (expert.parts.empty() || std::max(i, j) < expert.map_states) return few;
  const prior::StateKind& a = expert.states[static_cast<std::size_t>(i)];
  const prior::StateKind& b = expert.states[static_cast<std::size_t>(j)];
  const auto apart = [](const prior::StateKind& state) {
    return state.role == prior::StateRole::Cycle || state.role == prior::StateRole::Remembered;
  };
  if (a.part != b.part || apart(a) || apart(b)) return false;
  return a.channel == b.channel || (few && a.derivative == b.derivative);
}

// The steps at the beginning of a segment that do not count.
int uncounted(const prior::Expert& expert, const StepRange& segment) {
  return expert.emission == nullptr || expert.linear ? 0
                                                     : std::min(kSearchSteps, segment.steps() / 2);
}

}  // namespace

StaticLikelihood::StaticLikelihood(model::LearnedModel<double>& model, const NoiseFactor& noise,
                                   const ScaledData& data, const std::vector<StepRange>& segments,
                                   ThreadTeam& team, std::vector<double> small,
                                   std::span<const infer::SeriesView> weighted, Constants constants)
    : model_(model), noise_(noise), small_(std::move(small)) {
  const heads::Architecture& architecture = model.architecture();
  const int N = model.state_dim();
  const std::ptrdiff_t L = architecture.decoder.bias.back() + architecture.L_row();
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      if (!may_correlate(model.expert(), i, j)) continue;
      if (i == j) diagonal_.push_back(L_.size());
      L_.push_back(static_cast<std::size_t>(L + lanes::triangle_index(i, j)));
      row_.push_back(i);
    }
  const std::vector<prior::ExpertParameter>& parameters = model.expert().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].learn &&
        (constants == Constants::Learned || std::isfinite(parameters[i].prior_std)))
      theta_.push_back({i, BoundedVariable(parameters[i], model.theta()[i]), parameters[i].value,
                        parameters[i].prior_std});
  gradient_.resize(static_cast<std::size_t>(architecture.parameters.size()));
  d_R_.resize(static_cast<std::size_t>(data.meas_dim() * data.meas_dim()));
  d_theta_.resize(parameters.size());
  entries_ = constant_entries(data, !weighted.empty());
  if (!entries_.empty()) {
    prepare_constant(data, segments, team);
    return;
  }
  fill(data, segments, weighted);
  heads::StateModel<double> window = model.window();
  if (!weighted.empty()) window.robust = nullptr;
  window.steady = true;
  engine_ = std::make_unique<engine::BatchEngine<heads::StateGroup<double>>>(
      window, team, groups_[0].steps, groups_[0].lanes, true);
}

std::vector<kalman::MatrixEntry> StaticLikelihood::constant_entries(const ScaledData& data,
                                                                    bool weighted) const {
  const model::ModelDescription& d = model_.description();
  const std::vector<prior::ChannelPart> parts = prior::channel_parts(d.prior, model_.meas_dim());
  const bool regressive = std::ranges::any_of(
      parts, [](const prior::ChannelPart& each) { return each.part.kind == prior::PartKind::Ar; });
  if (!regressive || model_.expert().map_states > 0 || d.prior.departure > 0 || d.tails > 0 ||
      !model_.is_static() || data.irregular() || data.weighted() || weighted ||
      !noise_.independent())
    return {};
  const std::size_t M = static_cast<std::size_t>(model_.meas_dim());
  for (std::size_t i = 0; i < M * M; ++i)
    if (i % (M + 1) != 0 && model_.emission().R()[i] != 0) return {};
  std::vector<kalman::MatrixEntry> entries;
  for (const prior::ChannelPart& each : parts) {
    const int size = prior::part_states(each.part);
    const bool shifts = each.part.kind == prior::PartKind::Ar;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        if (!shifts || i == 0 || j == i - 1) entries.push_back({each.begin + i, each.begin + j});
  }
  return entries;
}

void StaticLikelihood::prepare_constant(const ScaledData& data,
                                        const std::vector<StepRange>& segments, ThreadTeam& team) {
  std::vector<kalman::MeasuredSteps> series;
  for (const StepRange& segment : segments) {
    measured_.add(data.measured(segment));
    series.push_back({data.view(segment).y, segment.steps()});
  }
  constant_ = std::make_unique<kalman::ConstantLikelihood>(model_.state_dim(), model_.meas_dim(),
                                                           entries_, series, team);
}

namespace {

// L (N x N) of its packed entries, whose diagonal goes through the softplus.
std::vector<double> factor_of(std::span<const double> packed, int N) {
  std::vector<double> L(static_cast<std::size_t>(N * N));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      const double entry = packed[static_cast<std::size_t>(lanes::triangle_index(i, j))];
      L[static_cast<std::size_t>(i * N + j)] = i == j ? nn::softplus(entry) : entry;
    }
  return L;
}

// L L'.
std::vector<double> gram_of(const std::vector<double>& L, int N) {
  std::vector<double> Q(L.size());
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k <= std::min(i, j); ++k)
        Q[static_cast<std::size_t>(i * N + j)] +=
            L[static_cast<std::size_t>(i * N + k)] * L[static_cast<std::size_t>(j * N + k)];
  return Q;
}

}  // namespace

double StaticLikelihood::constant_gradient(double scale) {
  constexpr int kLanes = lanes::kLineLanes<double>;
  const int N = model_.state_dim(), M = model_.meas_dim();
  const auto triangle = static_cast<std::size_t>(lanes::triangle_size(N));
  const heads::Architecture& architecture = model_.architecture();
  const std::span<const double> parameters = model_.parameters();
  const auto L_begin =
      static_cast<std::size_t>(architecture.decoder.bias.back() + architecture.L_row());
  const std::vector<double> L = factor_of(parameters.subspan(L_begin, triangle), N);
  const std::vector<double> L0 =
      factor_of(parameters.subspan(static_cast<std::size_t>(architecture.initial_L), triangle), N);
  const std::span<const double> x0 = parameters.subspan(
      static_cast<std::size_t>(architecture.initial_e), static_cast<std::size_t>(N));

  // The map is the same wherever the state is.
  const heads::StateModel<double> window = model_.window();
  const kalman::TransitionMap& map = *window.map;
  const auto lines = [](int count) {
    return Buffer<double>(static_cast<std::size_t>(count * kLanes));
  };
  Buffer<double> x = lines(N), dt = lines(1), u = lines(std::max(1, map.input_dim())),
                 F = lines(N * N), e = lines(N), scratch(map.scratch_size());
  std::ranges::fill(dt.span(), window.dt);
  const kalman::MapPoint at{x.data(), dt.data(), u.data(), window.theta};
  map.forward(at, F.data(), e.data(), scratch.data());
  kalman::ConstantSystem system;
  for (int i = 0; i < N * N; ++i) system.F.push_back(F[static_cast<std::size_t>(i * kLanes)]);
  system.Q = gram_of(L, N);
  system.H = model_.expert().H;
  for (int m = 0; m < M; ++m)
    system.R.push_back(model_.emission().R()[static_cast<std::size_t>(m * (M + 1))]);
  system.x0.assign(x0.begin(), x0.end());
  system.P0 = gram_of(L0, N);
  const kalman::ConstantLoss loss = (*constant_)(system);

  // d_L = 2 d_Q L, through the softplus on the diagonal.
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      double d_L = 0;
      for (int k = j; k < N; ++k)
        d_L += 2 * loss.d_Q[static_cast<std::size_t>(i * N + k)] *
               L[static_cast<std::size_t>(k * N + j)];
      gradient_[L_begin + static_cast<std::size_t>(lanes::triangle_index(i, j))] =
          scale * d_L * (i == j ? 1 - std::exp(-L[static_cast<std::size_t>(i * N + i)]) : 1);
    }
  std::ranges::fill(d_R_, 0.0);
  for (int m = 0; m < M; ++m)
    d_R_[static_cast<std::size_t>(m * (M + 1))] = scale * loss.d_R[static_cast<std::size_t>(m)];
  Buffer<double> d_F = lines(N * N), d_e = lines(N), d_x = lines(N),
                 d_theta = lines(std::max(1, map.parameter_count()));
  for (std::size_t i = 0; i < entries_.size(); ++i)
    d_F[static_cast<std::size_t>((entries_[i].row * N + entries_[i].col) * kLanes)] =
        scale * loss.d_F[i];
  map.backward(at, d_F.data(), d_e.data(), d_x.data(), d_theta.data(), scratch.data());
  for (std::size_t i = 0; i < d_theta_.size(); ++i) d_theta_[i] = d_theta[i * kLanes];
  return scale * loss.nll;
}

void StaticLikelihood::fill(const ScaledData& data, const std::vector<StepRange>& segments,
                            std::span<const infer::SeriesView> weighted) {
  const int count = static_cast<int>(segments.size());
  const int lanes = std::min(engine::kGroupLanes, lanes::padded_lanes(count));
  int longest = 1;
  const auto counted = [&](const StepRange& s) {
    return data.measured({s.series, s.begin + uncounted(model_.expert(), s), s.end});
  };
  for (const StepRange& segment : segments) {
    longest = std::max(longest, segment.steps());
    measured_.add(counted(segment));
  }
  const bool all = measured_.values == 0;  // nothing else is measured
  for (int first = 0; first < count; first += lanes) {
    heads::StateGroup<double>& group = groups_.emplace_back();
    infer::prepare_group(model_, longest, lanes, data.irregular(), group);
    if (data.weighted() || !weighted.empty()) infer::prepare_weights(group);
    for (int lane = 0; lane < std::min(lanes, count - first); ++lane) {
      const auto s = static_cast<std::size_t>(first + lane);
      const StepRange& segment = segments[s];
      const infer::SeriesView piece = weighted.empty() ? data.view(segment) : weighted[s];
      group.length[static_cast<std::size_t>(lane)] = segment.steps();
      if (all) measured_.add(data.measured(segment));
      const int skipped = all ? 0 : uncounted(model_.expert(), segment);
      if (skipped > 0 && group.score.empty()) {
        group.score.resize(static_cast<std::size_t>(longest) * static_cast<std::size_t>(lanes));
        std::ranges::fill(group.score.span(), 1.0);
      }
      for (int k = 0; k < skipped; ++k) group.score[static_cast<std::size_t>(k * lanes + lane)] = 0;
      infer::LaneMemory memory = infer::empty_memory(data.meas_dim());
      for (int k = 0; k < segment.steps(); ++k)
        infer::fill_step<double>(model_, k, lane, piece, k, memory, nullptr, group);
    }
    group.centre = {};  // there is no residual to be centred
  }
}

std::vector<double> StaticLikelihood::start(double ratio) const {
  std::vector<double> variables;
  for (const std::size_t place : L_) variables.push_back(ratio * model_.parameters()[place]);
  for (const std::size_t i : diagonal_) {
    const double v = model_.parameters()[L_[i]];
    variables[i] = ratio == 1 ? v : nn::inverse_softplus(ratio * nn::softplus(v));
  }
  for (const LearnedParameter& each : theta_) variables.push_back(each.variable.start());
  const std::vector<double> noise = noise_.start(model_.emission().R());
  variables.insert(variables.end(), noise.begin(), noise.end());
  return variables;
}

std::vector<double> StaticLikelihood::sizes(std::span<const double> variables) const {
  std::vector<double> sizes(static_cast<std::size_t>(noise_begin()), 1.0);
  for (std::size_t i = 0; i < L_.size(); ++i) {
    // softplus(v) = L: a step of L / (1 - exp(-L)) adds L.
    const std::size_t own = diagonal_[static_cast<std::size_t>(row_[i])];
    const double width = nn::softplus(variables[own]);
    sizes[i] = i == own ? -width / std::expm1(-width) : width;
  }
  const std::vector<double> noise =
      noise_.sizes(variables.subspan(static_cast<std::size_t>(noise_begin())));
  sizes.insert(sizes.end(), noise.begin(), noise.end());
  return sizes;
}

void StaticLikelihood::begin_constants_at(const std::vector<double>& theta) {
  for (LearnedParameter& each : theta_) {
    if (std::isfinite(each.prior_std)) continue;
    // A value that was learned may be at its bound, from where it could not move.
    constexpr double kLeast = 1e-6;
    const Parameter& given = model_.expert().parameters[each.index];
    Parameter there = given;
    there.value = theta[each.index];
    if (std::isfinite(given.lower))
      there.value = std::max(there.value, given.lower + kLeast * (given.value - given.lower));
    if (std::isfinite(given.upper))
      there.value = std::min(there.value, given.upper - kLeast * (given.upper - given.value));
    each.variable = BoundedVariable(there);
  }
}

std::vector<StaticLikelihood::Constant> StaticLikelihood::constants() const {
  std::vector<Constant> constants;
  for (std::size_t i = 0; i < theta_.size(); ++i)
    if (!std::isfinite(theta_[i].prior_std)) constants.push_back({theta_[i].index, L_.size() + i});
  return constants;
}

double StaticLikelihood::slope_of(const Constant& constant,
                                  std::span<const double> variables) const {
  return theta_[constant.variable - L_.size()].variable.slope(variables[constant.variable]);
}

bool StaticLikelihood::near_bound(const Constant& constant,
                                  std::span<const double> variables) const {
  return is_near_bound(
      model_.expert().parameters[constant.parameter],
      theta_[constant.variable - L_.size()].variable.value(variables[constant.variable]));
}

void StaticLikelihood::set(std::span<const double> variables) {
  std::vector<double> parameters(model_.parameters().begin(), model_.parameters().end());
  for (std::size_t i = 0; i < L_.size(); ++i) parameters[L_[i]] = variables[i];
  model_.set_parameters(parameters);
  std::vector<double> theta = model_.theta();
  for (std::size_t i = 0; i < theta_.size(); ++i)
    theta[theta_[i].index] = theta_[i].variable.value(variables[L_.size() + i]);
  model_.set_theta(theta);
  if (noise_.size() > 0)
    model_.set_R(noise_.value(variables.subspan(static_cast<std::size_t>(noise_begin()))));
}

double StaticLikelihood::operator()(std::span<const double> variables, std::span<double> gradient) {
  const double nowhere = std::numeric_limits<double>::quiet_NaN();
  for (const double value : variables)
    if (!(std::abs(value) < kFurthest)) return nowhere;
  try {
    set(variables);
  } catch (const ConfigError&) {
    return nowhere;  // an R that is no covariance, or a parameter that is no number
  }
  const double scale = 0.5 / measured_.values;
  double value = 0;
  if (constant_) {
    value = constant_gradient(scale);
    if (!std::isfinite(value)) return nowhere;
  } else {
    const engine::BatchResult result = engine_->gradient(groups_, scale, gradient_, d_R_, d_theta_);
    if (result.failed_lanes > 0) return nowhere;
    value = scale * result.nll;
  }
  for (std::size_t i = 0; i < L_.size(); ++i) gradient[i] = gradient_[L_[i]];
  for (std::size_t n = 0; n < diagonal_.size(); ++n) {
    const double width = nn::softplus(variables[diagonal_[n]]);
    const double below = std::log(small_[n] / width);
    if (!(below > 0)) continue;
    value += below * below / (1 + below) / measured_.values;
    const double slope = below * (2 + below) / ((1 + below) * (1 + below));
    gradient[diagonal_[n]] -= slope / width * (1 - std::exp(-width)) / measured_.values;
  }
  for (std::size_t i = 0; i < theta_.size(); ++i) {
    const LearnedParameter& each = theta_[i];
    const double v = variables[L_.size() + i];
    const double pull = (each.variable.value(v) - each.centre) / each.prior_std;
    value += 0.5 * pull * pull / measured_.values;
    gradient[L_.size() + i] =
        (d_theta_[each.index] + pull / each.prior_std / measured_.values) * each.variable.slope(v);
  }
  const auto begin = static_cast<std::size_t>(noise_begin());
  const std::vector<double> d_noise = noise_.gradient(variables.subspan(begin), d_R_);
  std::copy(d_noise.begin(), d_noise.end(), gradient.begin() + static_cast<std::ptrdiff_t>(begin));
  return value;
}

}  // namespace kalmia::train
