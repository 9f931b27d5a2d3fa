#include "engine/network_stream.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/network_stream.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "engine/records.hpp"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/encoder-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

using namespace nn::HWY_NAMESPACE;  // NOLINT: networks of this instruction set
using lanes::kLineLanes;

// Decodes h and puts the outputs on the record of a window of one step. Every lane gets the same
// numbers: stores of whole lines, so that the recursion's loads need not wait for parts.
template <typename T>
void stream_decode(const NetworkLayout& layout, const typename NetworkStream<T>::Weights& weights,
                   typename NetworkStream<T>::Scratch& s, T* record) {
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
  constexpr int kLanes = lanes::kLaneQuantum;
  const RecordRows rows(layout, false);
  const auto put = [&](int row, const Line<T>& value) HWY_ATTR {
    for (int lane = 0; lane < kLanes; lane += kLineLanes<T>)
      store(value, record + row * kLanes + lane);
  };
  for (int row = 0; row < layout.output_rows(); ++row) put(rows.out + row, broadcast(out[row]));
  for (std::size_t i = 0; i < layout.rows.positive.size(); ++i)
    put(rows.positive + static_cast<int>(i), softplus(broadcast(out[layout.rows.positive[i]])));
}

template <typename T>
void step_here(const NetworkLayout& layout, typename NetworkStream<T>::Weights& weights,
               typename NetworkStream<T>::Scratch& s, const T* features, std::vector<T>& state,
               T* record) {
  std::visit([&](auto& encoder) HWY_ATTR { stream_step(encoder, features, state, s.h.data()); },
             weights.encoder.weights);
  stream_decode<T>(layout, weights, s, record);
}

void step_float(const NetworkLayout& layout, NetworkStream<float>::Weights& weights,
                NetworkStream<float>::Scratch& s, const float* features, std::vector<float>& state,
                float* record) {
  step_here<float>(layout, weights, s, features, state, record);
}
void step_double(const NetworkLayout& layout, NetworkStream<double>::Weights& weights,
                 NetworkStream<double>::Scratch& s, const double* features,
                 std::vector<double>& state, double* record) {
  step_here<double>(layout, weights, s, features, state, record);
}

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::engine {

HWY_EXPORT(step_float);
HWY_EXPORT(step_double);

template <typename T>
NetworkStream<T>::NetworkStream(const NetworkLayout& layout, std::span<const T> parameters)
    : layout_(layout) {
  if (layout.networks.two_sided)
    throw ConfigError("a two-sided model cannot be streamed: it needs the future measurements");
  if (static_cast<std::ptrdiff_t>(parameters.size()) != layout.parameters.size())
    throw ConfigError("NetworkStream: " + std::to_string(parameters.size()) +
                      " parameters, but the model has " + std::to_string(layout.parameters.size()));
  const T* p = parameters.data();
  weights_.encoder.assign(layout.encoder_fwd, p);
  int widest = 0;
  for (int i = 0; i < layout.decoder.layers(); ++i) {
    const auto layer = static_cast<std::size_t>(i);
    const int rows = layout.decoder.widths[layer + 1];
    weights_.layer.emplace_back().assign(p + layout.decoder.weight[layer], rows,
                                         layout.decoder.widths[layer]);
    lanes::assign_padded(weights_.bias.emplace_back(), p + layout.decoder.bias[layer], rows);
    widest = std::max(widest, weights_.layer.back().rows);
  }
  scratch_.h.resize(static_cast<std::size_t>(lanes::padded_to_line<T>(layout.networks.hidden)));
  scratch_.a.resize(static_cast<std::size_t>(widest));
  scratch_.b.resize(static_cast<std::size_t>(widest));
}

template <typename T>
void NetworkStream<T>::step(const T* features, std::vector<T>& state, T* record) {
  if constexpr (sizeof(T) == sizeof(float))
    HWY_DYNAMIC_DISPATCH(step_float)(layout_, weights_, scratch_, features, state, record);
  else
    HWY_DYNAMIC_DISPATCH(step_double)(layout_, weights_, scratch_, features, state, record);
}

template class NetworkStream<float>;
template class NetworkStream<double>;

}  // namespace kalmia::engine
#endif
