#include "model/stream.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/stream.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "model/stream_encoder-inl.h"
#include "model/window_recursion-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

// Decodes h and puts the outputs on the record of a window of one step. Every lane gets the same
// numbers: stores of whole lines, so that the recursion's loads need not wait for parts.
template <typename T>
void stream_decode(const Architecture& arch, const typename FilterStream<T>::Weights& weights,
                   typename FilterStream<T>::Scratch& s, int lanes) {
  const T* in = s.h.data();
  T* out = s.a.data();
  for (std::size_t i = 0; i < weights.layer.size(); ++i) {
    matvec(weights.layer[i], in, weights.bias[i].data(), out);
    if (i + 1 == weights.layer.size()) break;
    for (int u = 0; u < weights.layer[i].rows; u += kLineLanes<T>)
      store(zero_if_negative(load(out + u)), out + u);
    in = out;
    out = out == s.a.data() ? s.b.data() : s.a.data();
  }
  const RecordRows rows(arch, false);
  T* record = s.workspace.records.data();
  for (int row = 0; row < arch.output_rows(); ++row) {
    const Line<T> value = broadcast(out[row]);
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>)
      store(value, record + (rows.out + row) * lanes + lane);
  }
  for (int i = 0; i < arch.state_dim(); ++i) {
    const Line<T> value = softplus(broadcast(out[arch.L_row() + lanes::triangle_index(i, i)]));
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>)
      store(value, record + (rows.diag + i) * lanes + lane);
  }
}

template <typename T>
void step_here(const WindowModel<T>& model, const typename FilterStream<T>::Weights& weights,
               typename FilterStream<T>::Scratch& s, const T* features, StreamState<T>& state) {
  const int lanes = lanes::kLaneQuantum;
  if (state.started) {
    stream_encode<T>(model.architecture->options.encoder, weights, s, features, state.h);
    stream_decode<T>(*model.architecture, weights, s, lanes);
  }
  WindowInput<T> in;
  in.steps = 1;
  in.lanes = lanes;
  in.y = s.y.data();
  in.observed = s.observed.data();
  in.weight = s.weighted ? s.weight.data() : nullptr;
  in.centre = s.centre.data();
  in.trust = s.trust.data();
  in.lost = s.lost.data();
  in.dt = s.dt.data();
  in.u = s.u.data();
  in.fresh = s.fresh.data();
  WindowMoments moments;
  moments.x_pred = s.x_pred.data();
  moments.P_pred = s.P_pred.data();
  moments.F = s.F.data();
  with_sizes<T>(*model.architecture, [&](auto N, auto M) HWY_ATTR {
    RecursionPass<T, decltype(N)::value, decltype(M)::value> recursion(model, in, s.workspace, 0);
    recursion.begin_forward_single(state.x.data(), state.P.data());
    recursion.forward(0, 1, moments);
    recursion.end_forward_single(state.x.data(), state.P.data());
  });
}

void step_float(const WindowModel<float>& model, const FilterStream<float>::Weights& weights,
                FilterStream<float>::Scratch& scratch, const float* features,
                StreamState<float>& state) {
  step_here<float>(model, weights, scratch, features, state);
}
void step_double(const WindowModel<double>& model, const FilterStream<double>::Weights& weights,
                 FilterStream<double>::Scratch& scratch, const double* features,
                 StreamState<double>& state) {
  step_here<double>(model, weights, scratch, features, state);
}

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {

HWY_EXPORT(step_float);
HWY_EXPORT(step_double);

namespace {

constexpr int kLanes = lanes::kLaneQuantum;

// `blocks` blocks of `size` numbers, each padded to whole lines.
template <typename T>
void assign_padded(Buffer<T>& to, const T* from, int size, int blocks = 1) {
  const int padded = lanes::padded_to_line<T>(size);
  to.resize(static_cast<std::size_t>(blocks * padded));
  for (int b = 0; b < blocks; ++b) std::copy_n(from + b * size, size, to.data() + b * padded);
}

// The weights of an encoder; those of a recurrent one come in blocks, one a gate.
template <typename T>
void assign_encoder(const nn::EncoderLayout& layout, const T* p,
                    typename FilterStream<T>::Weights& to) {
  const auto recurrent = [&](const auto& l, int gates) {
    to.input.assign(p + l.weight_ih, gates * l.hidden, l.input, gates);
    to.hidden.assign(p + l.weight_hh, gates * l.hidden, l.hidden, gates);
    assign_padded(to.bias_input, p + l.bias_ih, l.hidden, gates);
    assign_padded(to.bias_hidden, p + l.bias_hh, l.hidden, gates);
  };
  if (const auto* gru = std::get_if<nn::GruLayout>(&layout)) recurrent(*gru, 3);
  if (const auto* lstm = std::get_if<nn::LstmLayout>(&layout)) recurrent(*lstm, 4);
  if (const auto* conv = std::get_if<nn::ConvLayout>(&layout)) {
    to.input.assign(p + conv->weight, conv->hidden, conv->taps * conv->input);
    assign_padded(to.bias_input, p + conv->bias, conv->hidden);
  }
}

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
FilterStream<T>::FilterStream(const WindowModel<T>& model, std::span<const T> parameters)
    : model_(model) {
  const Architecture& arch = *model.architecture;
  if (arch.options.two_sided)
    throw ConfigError("a two-sided model cannot be streamed: it needs the future measurements");
  if (static_cast<std::ptrdiff_t>(parameters.size()) != arch.parameters.size())
    throw ConfigError("FilterStream: " + std::to_string(parameters.size()) +
                      " parameters, but the model has " + std::to_string(arch.parameters.size()));
  const T* p = parameters.data();
  assign_encoder(arch.encoder_fwd, p, weights_);
  int widest = 0;
  for (int i = 0; i < arch.decoder.layers(); ++i) {
    const auto layer = static_cast<std::size_t>(i);
    const int rows = arch.decoder.widths[layer + 1];
    weights_.layer.emplace_back().assign(p + arch.decoder.weight[layer], rows,
                                         arch.decoder.widths[layer]);
    assign_padded(weights_.bias.emplace_back(), p + arch.decoder.bias[layer], rows);
    widest = std::max(widest, weights_.layer.back().rows);
  }

  const auto N = static_cast<std::size_t>(arch.state_dim());
  const auto M = static_cast<std::size_t>(arch.meas_dim());
  const auto inputs = static_cast<std::size_t>(arch.options.input_dim);
  const auto units = static_cast<std::size_t>(lanes::padded_to_line<T>(arch.options.hidden));
  const auto lanes = static_cast<std::size_t>(kLanes);
  scratch_.gates_input.resize(weights_.bias_input.size());
  scratch_.gates_hidden.resize(weights_.bias_hidden.size());
  scratch_.h.resize(units);
  scratch_.c.resize(units);
  scratch_.inputs.resize(static_cast<std::size_t>(arch.encoder_state_rows()) + inputs);
  scratch_.a.resize(static_cast<std::size_t>(widest));
  scratch_.b.resize(static_cast<std::size_t>(widest));
  scratch_.workspace.prepare(model, 1, kLanes, false);
  scratch_.y.resize(M * lanes);
  scratch_.observed.resize(M * lanes);
  scratch_.weight.resize(M * lanes);
  scratch_.centre.resize(N * lanes);
  scratch_.trust.resize(N * lanes);
  scratch_.lost.resize(lanes);
  scratch_.dt.resize(lanes);
  if (model.map != nullptr)
    scratch_.u.resize(static_cast<std::size_t>(model.map->input_dim()) * lanes);
  scratch_.F.resize(N * N * lanes);
  scratch_.x_pred.resize(N * lanes);
  scratch_.P_pred.resize(N * N * lanes);
  scratch_.fresh.assign(lanes, 1);
  x_pred_.resize(N);
  P_pred_.resize(N * N);
  F_.resize(N * N);
}

template <typename T>
StreamState<T> FilterStream<T>::start() const {
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
StreamResult FilterStream<T>::step(StreamState<T>& state, std::span<const double> y, double dt,
                                   std::span<const double> u, std::span<const double> weight) {
  Scratch& s = scratch_;
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
  s.weighted = !weight.empty();
  for (std::size_t i = 0; i < weight.size(); ++i) spread(weight[i], i, s.weight.data());
  const double length = std::isnan(dt) ? model_.dt : dt;
  spread(length, 0, s.dt.data());
  spread(state.lost * std::min(1.0, length / model_.dt), 0, s.lost.data());
  for (std::size_t i = 0; i < u.size(); ++i) spread(u[i], i, s.u.data());
  for (std::size_t i = 0; i < state.centre.size(); ++i) spread(state.centre[i], i, s.centre.data());
  for (std::size_t i = 0; i < state.trust.size(); ++i) spread(state.trust[i], i, s.trust.data());
  std::fill(s.fresh.begin(), s.fresh.end(), static_cast<std::uint8_t>(state.started ? 0 : 1));
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(step_float)(model_, weights_, s, state.features.data(), state);
  else
    HWY_DYNAMIC_DISPATCH(step_double)(model_, weights_, s, state.features.data(), state);
  gather(s.x_pred.data(), x_pred_);
  gather(s.P_pred.data(), P_pred_);
  gather(s.F.data(), F_);
  state.started = true;
  return {.nll = s.workspace.lane_nll[0], .failed = s.workspace.failed_step[0] >= 0};
}

template class FilterStream<float>;
template class FilterStream<double>;

}  // namespace kalmia::model
#endif
