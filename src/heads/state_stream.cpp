#include "heads/state_stream.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::heads {
namespace {

constexpr int kLanes = lanes::kLaneQuantum;

// Puts a number on the first line of row i of a panel; the recursion reads no further.
void spread(double number, std::size_t i, double* panel) {
  std::fill_n(panel + i * static_cast<std::size_t>(kLanes), lanes::kLineLanes<double>, number);
}

// Takes the first lane of each row.
void gather(const double* panel, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = panel[i * static_cast<std::size_t>(kLanes)];
}

}  // namespace

template <typename T>
StateStream<T>::StateStream(const StateModel<T>& model, std::span<const T> parameters)
    : model_(model), networks_(*model.architecture, parameters) {
  const Architecture& arch = *model.architecture;
  const auto N = static_cast<std::size_t>(arch.state_dim());
  const auto M = static_cast<std::size_t>(arch.meas_dim());
  const auto lanes = static_cast<std::size_t>(kLanes);
  workspace_.prepare(model, 1, kLanes, false);
  panels_.y.resize(M * lanes);
  panels_.observed.resize(M * lanes);
  panels_.weight.resize(M * lanes);
  panels_.centre.resize(N * lanes);
  panels_.trust.resize(N * lanes);
  panels_.lost.resize(lanes);
  panels_.dt.resize(lanes);
  panels_.u.resize(static_cast<std::size_t>(model.map_inputs()) * lanes);
  panels_.F.resize(N * N * lanes);
  panels_.x_pred.resize(N * lanes);
  panels_.P_pred.resize(N * N * lanes);
  panels_.fresh.assign(lanes, 1);
  x_pred_.resize(N);
  P_pred_.resize(N * N);
  F_.resize(N * N);
}

template <typename T>
StreamState<T> StateStream<T>::start() const {
  const Architecture& arch = *model_.architecture;
  const auto N = static_cast<std::size_t>(arch.state_dim());
  StreamState<T> state;
  state.h.assign(static_cast<std::size_t>(arch.encoder_state_rows()), T(0));
  state.features.assign(static_cast<std::size_t>(arch.options.input_dim), T(0));
  state.centre.assign(N, 0.0);
  state.trust.assign(N, 1.0);
  state.x.assign(N, 0.0);
  state.P.assign(N * N, 0.0);
  return state;
}

template <typename T>
StateInput<T> StateStream<T>::input(bool weighted) const {
  StateInput<T> in;
  in.steps = 1;
  in.lanes = kLanes;
  in.y = panels_.y.data();
  in.observed = panels_.observed.data();
  in.weight = weighted ? panels_.weight.data() : nullptr;
  in.centre = panels_.centre.data();
  in.trust = panels_.trust.data();
  in.lost = panels_.lost.data();
  in.dt = panels_.dt.data();
  in.u = panels_.u.data();
  in.fresh = panels_.fresh.data();
  return in;
}

template <typename T>
StreamResult StateStream<T>::step(StreamState<T>& state, std::span<const double> y, double dt,
                                  std::span<const double> u, std::span<const double> weight) {
  Panels& s = panels_;
  if (y.size() * static_cast<std::size_t>(kLanes) != s.y.size())
    throw ConfigError("step: " + std::to_string(y.size()) +
                      " measured components, but the model has " +
                      std::to_string(model_.architecture->meas_dim()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    spread(y[i], i, s.y.data());
    spread(std::isnan(y[i]) ? 0.0 : 1.0, i, s.observed.data());
  }
  if (u.size() * static_cast<std::size_t>(kLanes) != s.u.size())
    throw ConfigError("step: " + std::to_string(u.size()) + " inputs, but the expert map reads " +
                      std::to_string(s.u.size() / static_cast<std::size_t>(kLanes)));
  if (!weight.empty() && weight.size() != y.size())
    throw ConfigError("step: " + std::to_string(weight.size()) + " weights, but " +
                      std::to_string(y.size()) + " measured components");
  for (std::size_t i = 0; i < weight.size(); ++i) spread(weight[i], i, s.weight.data());
  const double length = std::isnan(dt) ? model_.dt : dt;
  spread(length, 0, s.dt.data());
  spread(state.lost * std::min(1.0, length / model_.dt), 0, s.lost.data());
  for (std::size_t i = 0; i < u.size(); ++i) spread(u[i], i, s.u.data());
  for (std::size_t i = 0; i < state.centre.size(); ++i) spread(state.centre[i], i, s.centre.data());
  for (std::size_t i = 0; i < state.trust.size(); ++i) spread(state.trust[i], i, s.trust.data());
  std::fill(s.fresh.begin(), s.fresh.end(), static_cast<std::uint8_t>(state.started ? 0 : 1));
  if (state.started) networks_.step(state.features.data(), state.h, workspace_.records.data());
  StateMoments moments;
  moments.x_pred = s.x_pred.data();
  moments.P_pred = s.P_pred.data();
  moments.F = s.F.data();
  StateHead<T>::state_kernels(model_).step(model_, input(!weight.empty()), moments, workspace_,
                                           state.x.data(), state.P.data());
  gather(s.x_pred.data(), x_pred_);
  gather(s.P_pred.data(), P_pred_);
  gather(s.F.data(), F_);
  state.started = true;
  return {.nll = workspace_.lane_nll[0], .failed = workspace_.failed_step[0] >= 0};
}

template class StateStream<float>;
template class StateStream<double>;

}  // namespace kalmia::heads
