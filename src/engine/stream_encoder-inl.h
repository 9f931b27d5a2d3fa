// One step of an encoder for a single sequence: all hidden units as one vector.

#if defined(KALMIA_ENGINE_STREAM_ENCODER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_STREAM_ENCODER_INL_H_
#undef KALMIA_ENGINE_STREAM_ENCODER_INL_H_
#else
#define KALMIA_ENGINE_STREAM_ENCODER_INL_H_
#endif

#include <algorithm>

#include "engine/network_stream.hpp"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

// W_i x + b_i and W_h h + b_h of a recurrent encoder.
template <typename T>
void stream_gates(const typename NetworkStream<T>::Weights& weights,
                  typename NetworkStream<T>::Scratch& s, const T* x) {
  matvec(weights.input, x, weights.bias_input.data(), s.gates_input.data());
  matvec(weights.hidden, static_cast<const T*>(s.h.data()), weights.bias_hidden.data(),
         s.gates_hidden.data());
}

// h = GRU(x, h); see nn/gru.hpp.
template <typename T>
void stream_gru(const typename NetworkStream<T>::Weights& weights,
                typename NetworkStream<T>::Scratch& s, const T* x, std::vector<T>& state) {
  T* h = s.h.data();
  std::copy(state.begin(), state.end(), h);
  stream_gates<T>(weights, s, x);
  const int units = weights.hidden.rows / 3;  // padded
  const T* in = s.gates_input.data();
  const T* hid = s.gates_hidden.data();
  for (int u = 0; u < units; u += kLineLanes<T>) {
    const Line<T> r = sigmoid(load(in + u) + load(hid + u));
    const Line<T> z = sigmoid(load(in + units + u) + load(hid + units + u));
    const Line<T> n = tanh(fma(r, load(hid + 2 * units + u), load(in + 2 * units + u)));
    store(fma(z, load(h + u) - n, n), h + u);
  }
  std::copy_n(h, state.size(), state.begin());
}

// (h, c) = LSTM(x, h, c); see nn/lstm.hpp.
template <typename T>
void stream_lstm(const typename NetworkStream<T>::Weights& weights,
                 typename NetworkStream<T>::Scratch& s, const T* x, std::vector<T>& state) {
  T* h = s.h.data();
  T* c = s.c.data();
  const std::size_t hidden = state.size() / 2;
  std::copy_n(state.data(), hidden, h);
  std::copy_n(state.data() + hidden, hidden, c);
  stream_gates<T>(weights, s, x);
  const int units = weights.hidden.rows / 4;  // padded
  const T* in = s.gates_input.data();
  const T* hid = s.gates_hidden.data();
  const auto gate = [&](int index, int u) HWY_ATTR {
    return load(in + index * units + u) + load(hid + index * units + u);
  };
  for (int u = 0; u < units; u += kLineLanes<T>) {
    const Line<T> cell =
        fma(sigmoid(gate(1, u)), load(c + u), sigmoid(gate(0, u)) * tanh(gate(2, u)));
    store(cell, c + u);
    store(sigmoid(gate(3, u)) * tanh(cell), h + u);
  }
  std::copy_n(h, hidden, state.data());
  std::copy_n(c, hidden, state.data() + hidden);
}

// h = tanh(W [state; x] + b), and x becomes the newest input of the state; see nn/conv.hpp.
template <typename T>
void stream_conv(const typename NetworkStream<T>::Weights& weights,
                 typename NetworkStream<T>::Scratch& s, const T* x, std::vector<T>& state) {
  T* h = s.h.data();
  const std::size_t inputs = s.inputs.size() - state.size();
  std::copy(state.begin(), state.end(), s.inputs.data());
  std::copy_n(x, inputs, s.inputs.data() + state.size());
  matvec(weights.input, static_cast<const T*>(s.inputs.data()), weights.bias_input.data(), h);
  for (int u = 0; u < weights.input.rows; u += kLineLanes<T>) store(tanh(load(h + u)), h + u);
  std::copy_n(s.inputs.data() + inputs, state.size(), state.data());
}

/// Moves an encoder's state on by the input x, and leaves h in s.h.
template <typename T>
void stream_encode(nn::EncoderKind kind, const typename NetworkStream<T>::Weights& weights,
                   typename NetworkStream<T>::Scratch& s, const T* x, std::vector<T>& state) {
  switch (kind) {
    case nn::EncoderKind::Gru:
      return stream_gru(weights, s, x, state);
    case nn::EncoderKind::Lstm:
      return stream_lstm(weights, s, x, state);
    case nn::EncoderKind::Conv:
      return stream_conv(weights, s, x, state);
  }
}

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
