#include "heads/state_window.hpp"

#include <algorithm>
#include <string>

#include "heads/diagonal/diagonal.hpp"
#include "heads/direct/direct.hpp"
#include "heads/recursion/recursion.hpp"
#include "kalmia/error.hpp"
#include "lanes/scratch.hpp"

namespace kalmia::heads {
namespace {

constexpr int kLineLanes = lanes::kLineLanes<double>;

std::size_t times(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}
std::size_t volume(int steps, int rows, int lanes) {
  return times(steps, rows) * static_cast<std::size_t>(lanes);
}

[[noreturn]] void refuse(const std::string& message) { throw ConfigError("window: " + message); }

std::string text(int number) { return std::to_string(number); }

// What is particular to a head of states.
template <typename T>
struct HeadEntry {
  const StateKernels<T>& (*kernels)(const StateModel<T>& model);
  int (*transition_lines)(const StateModel<T>& model);
};

template <typename T>
HeadEntry<T> entry_of(const StateModel<T>& model) {
  switch (model.architecture->options.head) {
    case HeadKind::Recursion:
      return {&recursion_kernels<T>, &recursion_lines<T>};
    case HeadKind::Direct:
      return {&direct_kernels<T>, &direct_lines<T>};
    case HeadKind::Diagonal:
      return {&diagonal_kernels<T>, &direct_lines<T>};
    case HeadKind::Fusion:
      break;
  }
  throw ConfigError("window: networks that add the future to a filter describe no states");
}

}  // namespace

template <typename T>
void StateHead<T>::check(const Model& model, const Input& in) {
  const Architecture& arch = *model.architecture;
  const kalman::Emission& emission = *model.emission;
  if (emission.state_dim() != arch.state_dim() || emission.meas_dim() != arch.meas_dim())
    refuse("H is " + text(emission.meas_dim()) + " x " + text(emission.state_dim()) +
           ", but the model needs " + text(arch.meas_dim()) + " x " + text(arch.state_dim()));
  if (model.map != nullptr && model.map->state_dim() != arch.state_dim())
    refuse("the expert map has " + text(model.map->state_dim()) + " states, but the model has " +
           text(arch.state_dim()));
  if (model.map_parameters() > 0 && model.theta == nullptr)
    refuse("the expert map has " + text(model.map_parameters()) + " parameters, but theta is null");
  if (model.map_inputs() > 0 && in.u == nullptr)
    refuse("the expert map reads " + text(model.map_inputs()) + " inputs, but u is null");
  if (model.emission_map != nullptr && (model.emission_map->state_dim() != arch.state_dim() ||
                                        model.emission_map->meas_dim() != arch.meas_dim()))
    refuse("the emission maps " + text(model.emission_map->state_dim()) + " states to " +
           text(model.emission_map->meas_dim()) + " measurements, but the model has " +
           text(arch.state_dim()) + " and " + text(arch.meas_dim()));
  if (arch.options.posterior == PosteriorRule::Alternative &&
      (model.emission_map != nullptr || model.robust != nullptr || in.weight != nullptr))
    refuse("the alternative posterior needs a linear emission with Gaussian noise");
  if (arch.options.transition == TransitionRule::TowardCentre &&
      (model.map == nullptr || (in.steps > 0 && in.centre == nullptr)))
    refuse("going toward the centre needs an expert map and a centre");
}

template <typename T>
const StateKernels<T>& StateHead<T>::state_kernels(const Model& model) {
  return entry_of(model).kernels(model);
}

template <typename T>
void StateHead<T>::end_backward(const Model& model, Workspace& ws) {
  const Architecture& arch = *model.architecture;
  const int N = arch.state_dim();
  const auto lane_sum = [&](int entry) {
    double sum = 0;
    for (int b = 0; b < kLineLanes; ++b)
      sum += ws.d_initial[static_cast<std::size_t>(entry * kLineLanes + b)];
    return sum;
  };
  for (int i = 0; i < N; ++i)
    ws.gradient[static_cast<std::size_t>(arch.initial_e + i)] = static_cast<T>(lane_sum(i));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      const int entry = lanes::triangle_index(i, j);
      const double slope =
          i == j ? model.network->initial.L_slope[static_cast<std::size_t>(i)] : 1.0;
      ws.gradient[static_cast<std::size_t>(arch.initial_L + entry)] =
          static_cast<T>(lane_sum(N + entry) * slope);
    }
}

template <typename T>
StateInput<T> StateHead<T>::from(const Model& model, Input input, int begin) {
  const Architecture& arch = *model.architecture;
  const auto skip = [&](auto& panel, int rows) {
    if (panel != nullptr) panel += static_cast<std::ptrdiff_t>(begin) * rows * input.lanes;
  };
  const int N = arch.state_dim(), M = arch.meas_dim();
  skip(input.input_fwd, arch.options.input_dim);
  skip(input.input_bwd, arch.options.input_dim);
  for (const double** panel : {&input.y, &input.observed, &input.weight}) skip(*panel, M);
  for (const double** panel : {&input.centre, &input.trust}) skip(*panel, N);
  skip(input.linearise, 2 * N);
  for (const double** panel : {&input.score, &input.dt, &input.lost}) skip(*panel, 1);
  skip(input.u, model.map_inputs());
  return input;
}

template <typename T>
void StateCarry<T>::resize(const Architecture& architecture, int lanes) {
  this->h.resize(times(architecture.encoder_state_rows(), lanes));
  x.resize(times(architecture.state_dim(), lanes));
  P.resize(times(architecture.state_dim() * architecture.state_dim(), lanes));
}

StateMoments StateMoments::from(int begin, int N, int lanes) const {
  const auto skip = [&](double* panel, int rows) {
    return panel == nullptr ? nullptr : panel + static_cast<std::ptrdiff_t>(begin) * rows * lanes;
  };
  StateMoments part;
  part.x_pred = skip(x_pred, N);
  part.P_pred = skip(P_pred, N * N);
  part.x_filt = skip(x_filt, N);
  part.P_filt = skip(P_filt, N * N);
  part.F = skip(F, N * N);
  part.Q = skip(Q, N * N);
  part.nll = skip(nll, 1);
  return part;
}

template <typename T>
void StateWorkspace<T>::prepare(const StateModel<T>& model, int steps, int lanes,
                                bool for_training) {
  const Architecture& arch = *model.architecture;
  engine::NetworkWorkspace<T>::prepare(arch, steps, lanes, for_training);
  const int N = arch.state_dim();
  const int M = arch.meas_dim();
  const int lines = lanes / kLineLanes;
  const int parameters = model.map_parameters();
  const int slot = SlotEntries(N, M).total;
  slots.resize(times(slot, lines * (for_training ? steps + 1 : 2)) * kLineLanes);
  line_scratch.resize(times(
      entry_of(model).transition_lines(model) + lanes::count_lines<StateLines>(N, M, parameters),
      kLineLanes));
  map_scratch.resize(
      std::max(model.map == nullptr ? 0 : model.map->scratch_size(),
               model.emission_map == nullptr ? 0 : model.emission_map->scratch_size()));
  if (model.steady) steady_flow.resize(times(lanes::count_lines<SteadyFlowLines>(N), kLineLanes));
  if (!for_training) return;
  d_R.resize(times(M, M));
  d_theta.resize(static_cast<std::size_t>(parameters));
  d_x.resize(times(N, lanes));
  d_P.resize(times(N * N, lanes));
  line_adjoints.resize(times(N + N * N + M * M + parameters, lines) * kLineLanes);
  d_initial.resize(times(N + lanes::triangle_size(N), kLineLanes));
}

template <typename T>
void StateWorkspace<T>::begin_forward() {
  engine::NetworkWorkspace<T>::begin_forward();
  steady_known = false;
}

template <typename T>
void StateWorkspace<T>::begin_backward() {
  engine::NetworkWorkspace<T>::begin_backward();
  steady_known = steady_summed = false;
  for (Buffer<double>* each : {&d_R, &d_theta, &d_initial, &d_x, &d_P}) each->clear();
}

template <typename T>
void StateGroup<T>::resize(const Architecture& architecture, int num_steps, int num_lanes) {
  steps = num_steps;
  lanes = num_lanes;
  const auto features = volume(steps, architecture.options.input_dim, lanes);
  input_fwd.resize(features);
  if (architecture.options.two_sided) input_bwd.resize(features);
  y.resize(volume(steps, architecture.meas_dim(), lanes));
  carry.resize(architecture, lanes);
}

template <typename T>
StateInput<T> StateGroup<T>::view() const {
  StateInput<T> input;
  input.steps = steps;
  input.lanes = lanes;
  input.input_fwd = input_fwd.data();
  input.input_bwd = input_bwd.data();
  input.y = y.data();
  input.observed = observed.data();
  input.weight = weight.data();
  input.dt = dt.data();
  input.u = u.data();
  input.centre = centre.data();
  input.trust = trust.data();
  input.lost = lost.data();
  input.linearise = linearise.data();
  input.score = score.data();
  input.length = length.empty() ? nullptr : length.data();
  input.fresh = fresh.empty() ? nullptr : fresh.data();
  return input;
}

#define KALMIA_INSTANTIATE(T)        \
  template struct StateHead<T>;      \
  template struct StateCarry<T>;     \
  template struct StateWorkspace<T>; \
  template struct StateGroup<T>;
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::heads
