// One GRU step on a panel and its adjoint. See gru.hpp for the equations.

#if defined(KALMIA_NN_GRU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_GRU_INL_H_
#undef KALMIA_NN_GRU_INL_H_
#else
#define KALMIA_NN_GRU_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "lanes/dense-inl.h"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/gru.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::EvenSplit;
using lanes::kLineLanes;

// All three gates of `U` hidden units for `Lines` lines: the products stay in registers until the
// new hidden state is done. The input's share of n is added to r * (W_hn h + b_hn) in place.
// `gates` may be null.
template <int U, int Lines, typename T>
HWY_INLINE void gru_tile(const T* HWY_RESTRICT W, int input, int hidden, int first,
                         const T* HWY_RESTRICT x, const T* HWY_RESTRICT h, int lanes,
                         T* HWY_RESTRICT h_new, T* HWY_RESTRICT gates) {
  Line<T> r[U][Lines], z[U][Lines], n[U][Lines];
  for (int u = 0; u < U; ++u)
    for (int l = 0; l < Lines; ++l) {
      r[u][l] = broadcast(W[u]);
      z[u][l] = broadcast(W[U + u]);
      n[u][l] = broadcast(W[2 * U + u]);
    }
  const T* HWY_RESTRICT W_i = W + 4 * U;
  const T* HWY_RESTRICT W_h = W_i + 3 * U * input;
  for (int k = 0; k < hidden; ++k) {
    Line<T> hk[Lines];
    for (int l = 0; l < Lines; ++l) hk[l] = load(h + k * lanes + l * kLineLanes<T>);
    for (int u = 0; u < U; ++u) {
      const Line<T> wr = broadcast(W_h[k * 3 * U + u]);
      const Line<T> wz = broadcast(W_h[k * 3 * U + U + u]);
      const Line<T> wn = broadcast(W_h[k * 3 * U + 2 * U + u]);
      for (int l = 0; l < Lines; ++l) {
        r[u][l] = fma(wr, hk[l], r[u][l]);
        z[u][l] = fma(wz, hk[l], z[u][l]);
        n[u][l] = fma(wn, hk[l], n[u][l]);
      }
    }
  }
  for (int k = 0; k < input; ++k) {
    Line<T> xk[Lines];
    for (int l = 0; l < Lines; ++l) xk[l] = load(x + k * lanes + l * kLineLanes<T>);
    for (int u = 0; u < U; ++u) {
      const Line<T> wr = broadcast(W_i[k * 3 * U + u]);
      const Line<T> wz = broadcast(W_i[k * 3 * U + U + u]);
      for (int l = 0; l < Lines; ++l) {
        r[u][l] = fma(wr, xk[l], r[u][l]);
        z[u][l] = fma(wz, xk[l], z[u][l]);
      }
    }
  }
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(hidden) * lanes;
  for (int u = 0; u < U; ++u)
    for (int l = 0; l < Lines; ++l) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(first + u) * lanes + l * kLineLanes<T>;
      r[u][l] = sigmoid(r[u][l]);
      if (gates != nullptr) {
        store(r[u][l], gates + at);
        store(n[u][l], gates + 3 * panel + at);
      }
      n[u][l] = fma(r[u][l], n[u][l], broadcast(W[3 * U + u]));
    }
  for (int k = 0; k < input; ++k) {
    for (int u = 0; u < U; ++u) {
      const Line<T> wn = broadcast(W_i[k * 3 * U + 2 * U + u]);
      for (int l = 0; l < Lines; ++l)
        n[u][l] = fma(wn, load(x + k * lanes + l * kLineLanes<T>), n[u][l]);
    }
  }
  for (int u = 0; u < U; ++u)
    for (int l = 0; l < Lines; ++l) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(first + u) * lanes + l * kLineLanes<T>;
      const Line<T> zu = sigmoid(z[u][l]);
      const Line<T> nu = tanh(n[u][l]);
      if (gates != nullptr) {
        store(zu, gates + panel + at);
        store(nu, gates + 2 * panel + at);
      }
      store(fma(zu, load(h + at) - nu, nu), h_new + at);
    }
}

template <int Lines, typename T, int U = kTileUnits<T>>
HWY_INLINE void gru_units(int units, const T* W, int input, int hidden, int first, const T* x,
                          const T* h, int lanes, T* h_new, T* gates) {
  if constexpr (U > 0) {
    if (units == U)
      gru_tile<U, Lines>(W, input, hidden, first, x, h, lanes, h_new, gates);
    else
      gru_units<Lines, T, U - 1>(units, W, input, hidden, first, x, h, lanes, h_new, gates);
  }
}

template <int Lines, typename T>
HWY_NOINLINE void gru_columns(const PackedGru<T>& gru, const T* x, const T* h, int lanes, T* h_new,
                              T* gates) {
  const EvenSplit split(gru.hidden, kTileUnits<T>);
  const T* W = gru.forward.data();
  for (int tile = 0; tile < split.tiles; ++tile) {
    const int units = split.size(tile);
    gru_units<Lines>(units, W, gru.input, gru.hidden, split.begin(tile), x, h, lanes, h_new, gates);
    W += units * (4 + 3 * gru.input + 3 * gru.hidden);
  }
}

/// h_new = GRU(x, h). With kKeepGates also fills the tape `gates`.
///
/// Shapes: x input x lanes; h, h_new hidden x lanes (must not overlap); gates 4 hidden x lanes: r,
/// z, n and W_hn h + b_hn. Cost: 6 hidden (input + hidden) FLOP and 3 hidden activations a lane.
template <bool kKeepGates, typename T>
HWY_INLINE void gru_forward(const PackedGru<T>& gru, const T* x, const T* h, int lanes, T* h_new,
                            T* gates) {
  constexpr int kStep = kTileLines<T> * kLineLanes<T>;
  int lane = 0;
  for (; lane + kStep <= lanes; lane += kStep)
    gru_columns<kTileLines<T>>(gru, x + lane, h + lane, lanes, h_new + lane,
                               kKeepGates ? gates + lane : nullptr);
  for (; lane < lanes; lane += kLineLanes<T>)
    gru_columns<1>(gru, x + lane, h + lane, lanes, h_new + lane,
                   kKeepGates ? gates + lane : nullptr);
}

/// Adjoint of `gru_forward` for h and the gates.
///
///   d_n = d_h' (1 - z)           d_z = d_h' (h - n)
///   a_n = d_n (1 - n^2)          a_z = d_z z (1 - z)
///   g   = a_n r                  a_r = a_n (W_hn h + b_hn) r (1 - r)
///   d_h = d_h' z + W_hr' a_r + W_hz' a_z + W_hn' g
///
/// Replaces the tape: gates holds a_r, a_z, g, a_n afterwards (in this order), which are what the
/// weight gradients are made of: d_W_hh = [a_r; a_z; g] h', d_W_ih = [a_r; a_z; a_n] x'.
/// `d_h` holds d_h' on entry and d_h on return.
template <typename T>
HWY_INLINE void gru_backward(const PackedGru<T>& gru, const T* h, int lanes, T* HWY_RESTRICT gates,
                             T* HWY_RESTRICT d_h) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(gru.hidden) * lanes;
  const Line<T> one = broadcast(T(1));
  for (std::ptrdiff_t at = 0; at < panel; at += kLineLanes<T>) {
    const Line<T> r = load(gates + at);
    const Line<T> z = load(gates + panel + at);
    const Line<T> n = load(gates + 2 * panel + at);
    const Line<T> hn = load(gates + 3 * panel + at);
    const Line<T> d = load(d_h + at);
    const Line<T> dz = d * z;
    const Line<T> a_n = (d - dz) * fnma(n, n, one);
    const Line<T> g = a_n * r;
    store(g * hn * (one - r), gates + at);
    store(dz * (one - z) * (load(h + at) - n), gates + panel + at);
    store(g, gates + 2 * panel + at);
    store(a_n, gates + 3 * panel + at);
    store(dz, d_h + at);
  }
  product(gru.hidden_transposed, static_cast<const T*>(gates), lanes, Start::Accumulate,
          static_cast<const T*>(nullptr), d_h);
}

/// h = GRU(x, h) of one sequence. Moves its state on and leaves h, padded to whole lines.
template <typename T>
void stream_step(StreamedGru<T>& gru, const T* x, std::vector<T>& state, T* h) {
  std::copy(state.begin(), state.end(), h);
  matvec(gru.input, x, gru.bias_input.data(), gru.gates_input.data());
  matvec(gru.hidden, static_cast<const T*>(h), gru.bias_hidden.data(), gru.gates_hidden.data());
  const int units = gru.hidden.rows / 3;  // padded
  const T* in = gru.gates_input.data();
  const T* hid = gru.gates_hidden.data();
  for (int u = 0; u < units; u += kLineLanes<T>) {
    const Line<T> r = sigmoid(load(in + u) + load(hid + u));
    const Line<T> z = sigmoid(load(in + units + u) + load(hid + units + u));
    const Line<T> n = tanh(fma(r, load(hid + 2 * units + u), load(in + 2 * units + u)));
    store(fma(z, load(h + u) - n, n), h + u);
  }
  std::copy_n(h, state.size(), state.begin());
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
