#include "model/window.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"
#include "model/records.hpp"
#include "model/window_parts.hpp"

namespace kalmia::model {

namespace {

std::size_t times(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

[[noreturn]] void refuse(const std::string& message) { throw ConfigError("window: " + message); }

std::string text(int number) { return std::to_string(number); }

template <typename T>
void check_states(const WindowModel<T>& model, const WindowInput<T>& in) {
  const Architecture& arch = *model.architecture;
  const kalman::Emission& emission = *model.emission;
  if (emission.state_dim() != arch.state_dim() || emission.meas_dim() != arch.meas_dim())
    refuse("H is " + text(emission.meas_dim()) + " x " + text(emission.state_dim()) +
           ", but the model needs " + text(arch.meas_dim()) + " x " + text(arch.state_dim()));
  if (model.map != nullptr && model.map->state_dim() != arch.state_dim())
    refuse("the expert map has " + text(model.map->state_dim()) + " states, but the model has " +
           text(arch.state_dim()));
  if (model.map != nullptr && model.map->parameter_count() > 0 && model.theta == nullptr)
    refuse("the expert map has " + text(model.map->parameter_count()) +
           " parameters, but theta is null");
  if (model.map != nullptr && model.map->input_dim() > 0 && in.u == nullptr &&
      !arch.options.fusion)  // which reads no map
    refuse("the expert map reads " + text(model.map->input_dim()) + " inputs, but u is null");
  if (model.emission_map != nullptr && (model.emission_map->state_dim() != arch.state_dim() ||
                                        model.emission_map->meas_dim() != arch.meas_dim()))
    refuse("the emission maps " + text(model.emission_map->state_dim()) + " states to " +
           text(model.emission_map->meas_dim()) + " measurements, but the model has " +
           text(arch.state_dim()) + " and " + text(arch.meas_dim()));
  if (arch.options.alternative &&
      (model.emission_map != nullptr || model.robust != nullptr || in.weight != nullptr))
    refuse("the alternative posterior needs a linear emission with Gaussian noise");
  if (arch.options.fusion && (in.prior_x == nullptr || in.prior_P == nullptr))
    refuse("fusion needs prior_x and prior_P, the moments it adds the future to");
  if (arch.options.toward_centre && (model.map == nullptr || in.centre == nullptr))
    refuse("going toward the centre needs an expert map and a centre");
  if (arch.options.fusion && in.score != nullptr)
    refuse("fusion counts every step; score must be null");
}

template <typename T>
void check(const WindowModel<T>& model, const WindowInput<T>& in, const Workspace<T>& ws) {
  const Architecture& arch = *model.architecture;
  if (arch.options.gains > 0) {
    if (in.gain_offset == nullptr || in.gain_square == nullptr || in.gain_product == nullptr)
      refuse("gains need gain_offset, gain_square and gain_product");
  } else {
    check_states(model, in);
  }
  if (model.network->decoder.forward.back().tile_rows != lanes::tile_shape().rows)
    refuse("the weights were packed for another instruction set; pack them again");
  if (in.lanes <= 0 || in.lanes % lanes::kLaneQuantum != 0)
    refuse("lanes = " + text(in.lanes) + ", but it must be a positive multiple of " +
           text(lanes::kLaneQuantum));
  if (in.steps < 0 || in.steps > ws.max_steps || in.lanes > ws.max_lanes)
    refuse("steps x lanes = " + text(in.steps) + " x " + text(in.lanes) +
           ", but the workspace was prepared for " + text(ws.max_steps) + " x " +
           text(ws.max_lanes));
  for (int lane = 0; in.length != nullptr && lane < in.lanes; ++lane)
    if (in.length[lane] < 0 || in.length[lane] > in.steps)
      refuse("length[" + text(lane) + "] = " + text(in.length[lane]) + ", but it must be in 0.." +
             text(in.steps));
}

}  // namespace

template <typename T>
void Carry<T>::resize(const Architecture& architecture, int lanes) {
  h.resize(times(architecture.encoder_state_rows(), lanes));
  x.resize(times(architecture.state_dim(), lanes));
  P.resize(times(architecture.state_dim() * architecture.state_dim(), lanes));
}

template <typename T>
void Workspace<T>::prepare(const WindowModel<T>& model, int steps, int lanes, bool for_training) {
  const Architecture& arch = *model.architecture;
  const kalman::TransitionMap* map = model.map;
  training = for_training;
  max_steps = steps;
  max_lanes = lanes;
  const int N = arch.state_dim();
  const int M = arch.meas_dim();
  const int hidden = arch.options.hidden;
  const nn::EncoderRows encoder = nn::encoder_rows(arch.encoder_fwd);
  const auto* conv = std::get_if<nn::ConvLayout>(&arch.encoder_fwd);
  const int lines = lanes / lanes::kLineLanes<double>;
  const std::size_t line = lanes::kLineLanes<double>;
  const int slot = SlotEntries(N, M).total;

  lane_nll.resize(static_cast<std::size_t>(lanes));
  lane_ok.assign(static_cast<std::size_t>(lanes), 1);
  failed_step.assign(static_cast<std::size_t>(lanes), -1);
  failed_covariance.assign(static_cast<std::size_t>(lanes), 0);
  failures.reserve(static_cast<std::size_t>(lanes));
  records.resize(times(RecordRows(arch, training).total, lanes) * static_cast<std::size_t>(steps));
  start_h.resize(times(encoder.state, lanes));
  if (conv != nullptr)
    series.resize(times(encoder.state + steps * conv->input, arch.directions() * lanes));
  slots.resize(times(slot, lines * (training ? steps + 1 : 2)) * line);
  const int inputs = map == nullptr ? 0 : map->input_dim();
  const int parameters_of_map = map == nullptr ? 0 : map->parameter_count();
  line_scratch.resize(times(arch.options.fusion
                                ? fusion_lines(N, M, std::max(inputs, 1), parameters_of_map)
                                : recursion_lines(N, M, inputs, parameters_of_map),
                            lanes::kLineLanes<double>));
  map_scratch.resize(
      std::max(map == nullptr ? 0 : map->scratch_size(),
               model.emission_map == nullptr ? 0 : model.emission_map->scratch_size()));
  if (model.steady)
    steady_flow.resize(times(2 * (1 + 2 * N * N) + lanes::triangle_size(N), 1) * line);
  if (!training) gates.resize(times(encoder.tape, lanes));
  if (!training) return;
  const auto parameters = static_cast<std::size_t>(arch.parameters.size());
  gradient.resize(parameters);
  sums.resize(parameters * lanes::kLineLanes<T>);
  int widest = arch.directions() * hidden;
  for (const int width : arch.options.decoder) widest = std::max(widest, width);
  transposed.resize(times(lanes::padded_to_line<T>(widest), lanes) * (kChunkSteps + 1));
  d_R.resize(times(M, M));
  d_theta.resize(static_cast<std::size_t>(parameters_of_map));
  d_h.resize(times(encoder.state, lanes));
  d_x.resize(times(N, lanes));
  d_P.resize(times(N * N, lanes));
  chunk.resize(times(arch.decoder.hidden_rows(), lanes) * kChunkSteps);
  if (conv != nullptr) d_series.resize(times(2 * encoder.state, lanes));
  d_hidden_state.resize(times((arch.directions() - 1) * hidden + encoder.step, lanes));
  line_adjoints.resize(times(N + N * N + M * M + parameters_of_map, lines) * line);
  d_initial.resize(static_cast<std::size_t>(N + lanes::triangle_size(N)) * line);
}

template <typename T>
double window_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                      const WindowMoments& moments, Workspace<T>& ws) {
  check(model, input, ws);
  ws.failures.clear();
  ws.steady_known = false;
  if (input.steps == 0) {
    ws.lane_nll.clear();
    std::fill(ws.lane_ok.begin(), ws.lane_ok.end(), std::uint8_t{1});
    return 0;
  }
  if (model.architecture->options.gains > 0)
    gains_forward(model, input, carry, moments, ws);
  else if (model.architecture->options.fusion)
    fusion_forward(model, input, carry, moments, ws);
  else
    recursion_forward(model, input, carry, moments, ws);
  double sum = 0;
  bool any_failed = false;
  for (int lane = 0; lane < input.lanes; ++lane) {
    const double nll = ws.lane_nll[static_cast<std::size_t>(lane)];
    const bool ok = std::isfinite(nll);
    ws.lane_ok[static_cast<std::size_t>(lane)] = ok ? 1 : 0;
    any_failed = any_failed || !ok;
    const int failed_step = ws.failed_step[static_cast<std::size_t>(lane)];
    if (failed_step >= 0)
      ws.failures.push_back(
          {lane, failed_step, ws.failed_covariance[static_cast<std::size_t>(lane)] != 0});
    if (ok) sum += nll;
  }
  if (any_failed && ws.training) clear_failed_lanes(model, input, ws);
  return sum;
}

template <typename T>
void window_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                     Workspace<T>& ws) {
  check(model, input, ws);
  if (!ws.training) refuse("backward needs a workspace prepared for training");
  const Architecture& arch = *model.architecture;
  ws.steady_known = ws.steady_summed = false;
  ws.gradient.clear();
  ws.d_R.clear();
  ws.d_theta.clear();
  ws.d_initial.clear();
  ws.d_h.clear();
  ws.d_x.clear();
  ws.d_P.clear();
  if (input.steps == 0) return;
  if (arch.options.gains > 0)
    gains_backward(model, input, scale, ws);
  else if (arch.options.fusion)
    fusion_backward(model, input, scale, ws);
  else
    recursion_backward(model, input, scale, ws);

  const int N = arch.state_dim();
  const auto lane_sum = [&](int entry) {
    double sum = 0;
    for (int b = 0; b < lanes::kLineLanes<double>; ++b)
      sum += ws.d_initial[static_cast<std::size_t>(entry * lanes::kLineLanes<double> + b)];
    return sum;
  };
  for (int i = 0; i < N; ++i)
    ws.gradient[static_cast<std::size_t>(arch.initial_e + i)] = static_cast<T>(lane_sum(i));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      const int entry = lanes::triangle_index(i, j);
      const double slope =
          i == j ? model.network->initial_L_slope[static_cast<std::size_t>(i)] : 1.0;
      ws.gradient[static_cast<std::size_t>(arch.initial_L + entry)] =
          static_cast<T>(lane_sum(N + entry) * slope);
    }
}

template struct Carry<float>;
template struct Carry<double>;
template class Workspace<float>;
template class Workspace<double>;
template double window_forward<float>(const WindowModel<float>&, const WindowInput<float>&,
                                      Carry<float>&, const WindowMoments&, Workspace<float>&);
template double window_forward<double>(const WindowModel<double>&, const WindowInput<double>&,
                                       Carry<double>&, const WindowMoments&, Workspace<double>&);
template void window_backward<float>(const WindowModel<float>&, const WindowInput<float>&, double,
                                     Workspace<float>&);
template void window_backward<double>(const WindowModel<double>&, const WindowInput<double>&,
                                      double, Workspace<double>&);

}  // namespace kalmia::model
