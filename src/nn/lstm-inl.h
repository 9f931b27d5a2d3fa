// One LSTM step on a panel and its adjoint. See lstm.hpp for the equations.

#if defined(KALMIA_NN_LSTM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_LSTM_INL_H_
#undef KALMIA_NN_LSTM_INL_H_
#else
#define KALMIA_NN_LSTM_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "lanes/dense-inl.h"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/lstm.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

/// (h_new, c_new) = LSTM(x, h, c). Fills the tape `gates`.
///
/// Shapes: x input x lanes; h, c, h_new, c_new hidden x lanes (new must not overlap old); gates
/// 4 hidden x lanes: i, f, g, o. Cost: 8 hidden (input + hidden) FLOP and 5 hidden activations a
/// lane.
template <typename T>
HWY_INLINE void lstm_forward(const PackedLstm<T>& lstm, const T* x, const T* h,
                             const T* HWY_RESTRICT c, int lanes, T* HWY_RESTRICT h_new,
                             T* HWY_RESTRICT c_new, T* HWY_RESTRICT gates) {
  product(lstm.input, x, lanes, Start::Bias, lstm.bias.data(), gates);
  product(lstm.hidden, h, lanes, Start::Accumulate, static_cast<const T*>(nullptr), gates);
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(lstm.hidden.cols) * lanes;
  for (std::ptrdiff_t at = 0; at < panel; at += kLineLanes<T>) {
    const Line<T> i = sigmoid(load(gates + at));
    const Line<T> f = sigmoid(load(gates + panel + at));
    const Line<T> g = tanh(load(gates + 2 * panel + at));
    const Line<T> o = sigmoid(load(gates + 3 * panel + at));
    const Line<T> cell = fma(f, load(c + at), i * g);
    store(i, gates + at);
    store(f, gates + panel + at);
    store(g, gates + 2 * panel + at);
    store(o, gates + 3 * panel + at);
    store(cell, c_new + at);
    store(o * tanh(cell), h_new + at);
  }
}

/// Adjoint of `lstm_forward` for h, c and the gates.
///
///   t   = tanh(c')               d_c' = d_c' + d_h' o (1 - t^2)
///   a_i = d_c' g i (1 - i)       a_f  = d_c' c f (1 - f)
///   a_g = d_c' i (1 - g^2)       a_o  = d_h' t o (1 - o)
///   d_c = d_c' f                 d_h  = W_hi' a_i + W_hf' a_f + W_hg' a_g + W_ho' a_o
///
/// Replaces the tape: gates holds a = [a_i; a_f; a_g; a_o] afterwards, which is what the weight
/// gradients are made of: d_W_hh = a h', d_W_ih = a x'.
/// `d_h` and `d_c` hold d_h' and d_c' on entry, d_h and d_c on return. c_new is what the forward
/// step gave.
template <typename T>
HWY_INLINE void lstm_backward(const PackedLstm<T>& lstm, const T* HWY_RESTRICT c,
                              const T* HWY_RESTRICT c_new, int lanes, T* HWY_RESTRICT gates,
                              T* HWY_RESTRICT d_h, T* HWY_RESTRICT d_c) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(lstm.hidden.cols) * lanes;
  const Line<T> one = broadcast(T(1));
  for (std::ptrdiff_t at = 0; at < panel; at += kLineLanes<T>) {
    const Line<T> i = load(gates + at);
    const Line<T> f = load(gates + panel + at);
    const Line<T> g = load(gates + 2 * panel + at);
    const Line<T> o = load(gates + 3 * panel + at);
    const Line<T> t = tanh(load(c_new + at));
    const Line<T> d_out = load(d_h + at) * o;
    const Line<T> d_cell = fma(d_out, fnma(t, t, one), load(d_c + at));
    const Line<T> d_i = d_cell * i;
    const Line<T> d_f = d_cell * f;
    store(d_i * g * (one - i), gates + at);
    store(d_f * load(c + at) * (one - f), gates + panel + at);
    store(d_i * fnma(g, g, one), gates + 2 * panel + at);
    store(d_out * t * (one - o), gates + 3 * panel + at);
    store(d_f, d_c + at);
  }
  product(lstm.hidden_transposed, static_cast<const T*>(gates), lanes, Start::Zero,
          static_cast<const T*>(nullptr), d_h);
}

/// (h, c) = LSTM(x, h, c) of one sequence. Moves its state on and leaves h, padded to whole lines.
template <typename T>
void stream_step(StreamedLstm<T>& lstm, const T* x, std::vector<T>& state, T* h) {
  T* c = lstm.c.data();
  const std::size_t hidden = state.size() / 2;
  std::copy_n(state.data(), hidden, h);
  std::copy_n(state.data() + hidden, hidden, c);
  matvec(lstm.input, x, lstm.bias_input.data(), lstm.gates_input.data());
  matvec(lstm.hidden, static_cast<const T*>(h), lstm.bias_hidden.data(), lstm.gates_hidden.data());
  const int units = lstm.hidden.rows / 4;  // padded
  const T* in = lstm.gates_input.data();
  const T* hid = lstm.gates_hidden.data();
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

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
