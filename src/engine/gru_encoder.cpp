#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gru_encoder.cpp"
#include <hwy/foreach_target.h>

#include "engine/encoder_decoder-inl.h"
#include "engine/recurrent_encoder-inl.h"
#include "nn/gru-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// What the sweep needs of a GRU. State: h.
template <typename T>
struct GruCell {
  using Layout = nn::GruLayout;
  using Packed = nn::PackedGru<T>;
  static constexpr int kPanels = 1;
  struct State {
    T* panel[kPanels];
  };

  template <bool kTrain>
  static void forward(const Packed& gru, const T* x, const State& old, int lanes, const State& now,
                      T* gates) {
    gru_forward<kTrain>(gru, x, static_cast<const T*>(old.panel[0]), lanes, now.panel[0], gates);
  }
  static void backward(const Packed& gru, const State& old, const State&, int lanes, T* gates,
                       const State& d) {
    gru_backward(gru, static_cast<const T*>(old.panel[0]), lanes, gates, d.panel[0]);
  }
  /// d_W_hh = [a_r; a_z; g] h', d_W_ih = [a_r; a_z; a_n] x' (see gru_backward).
  static void gradients(const Tape<T>& tape, const Layout& gru, const PanelSeries<T>& gates,
                        const typename Tape<T>::Transposed& h_T, const PanelSeries<T>& x,
                        int steps) {
    const int n = gru.hidden, lanes = tape.in.lanes;
    tape.wide_gradient(gru.weight_hh, gates, 3 * n, h_T.first, h_T, n, steps);
    outer_product_narrow(gates, 2 * n, x, gru.input, steps, lanes, tape.sums(gru.weight_ih));
    const PanelSeries<T> a_n{gates.first + tape.panel(3 * n), gates.step};
    outer_product_narrow(a_n, n, x, gru.input, steps, lanes,
                         tape.sums(gru.weight_ih + static_cast<std::ptrdiff_t>(2) * n * gru.input));
    row_sums(gates, 3 * n, steps, lanes, tape.sums(gru.bias_hh));
    row_sums(a_n, n, steps, lanes, tape.sums(gru.bias_ih + 2 * n));
  }
  static void collect(const Tape<T>& tape, const Layout& gru) {
    const int n = gru.hidden;
    tape.collect_narrow(gru.weight_ih, static_cast<std::ptrdiff_t>(3) * n * gru.input);
    tape.collect_wide(gru.weight_hh, 3 * n, n);
    tape.collect_narrow(gru.bias_ih, 3 * n);
    tape.collect_narrow(gru.bias_hh, 3 * n);
    // The r and z rows of both biases enter as a sum.
    tape.share_gradient(gru.bias_hh, 2 * n, gru.bias_ih);
  }
};

template <typename T>
using GruEncoder = RecurrentEncoder<T, GruCell>;

KALMIA_ENCODER_PASS(nn::GruLayout, GruEncoder);

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
