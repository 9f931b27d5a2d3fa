#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/lstm_encoder.cpp"
#include <hwy/foreach_target.h>

#include "engine/encoder_decoder-inl.h"
#include "engine/recurrent_encoder-inl.h"
#include "nn/lstm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// What the sweep needs of an LSTM. State: h, c.
template <typename T>
struct LstmCell {
  using Layout = nn::LstmLayout;
  using Packed = nn::PackedLstm<T>;
  static constexpr int kPanels = 2;
  struct State {
    T* panel[kPanels];
  };

  template <bool kTrain>
  static void forward(const Packed& lstm, const T* x, const State& old, int lanes, const State& now,
                      T* gates) {
    lstm_forward(lstm, x, static_cast<const T*>(old.panel[0]), static_cast<const T*>(old.panel[1]),
                 lanes, now.panel[0], now.panel[1], gates);
  }
  static void backward(const Packed& lstm, const State& old, const State& now, int lanes, T* gates,
                       const State& d) {
    lstm_backward(lstm, static_cast<const T*>(old.panel[1]), static_cast<const T*>(now.panel[1]),
                  lanes, gates, d.panel[0], d.panel[1]);
  }
  /// d_W_hh = a h', d_W_ih = a x' (see lstm_backward).
  static void gradients(const Tape<T>& tape, const Layout& lstm, const PanelSeries<T>& gates,
                        const typename Tape<T>::Transposed& h_T, const PanelSeries<T>& x,
                        int steps) {
    const int n = lstm.hidden, lanes = tape.in.lanes;
    tape.wide_gradient(lstm.weight_hh, gates, 4 * n, h_T.first, h_T, n, steps);
    outer_product_narrow(gates, 4 * n, x, lstm.input, steps, lanes, tape.sums(lstm.weight_ih));
    row_sums(gates, 4 * n, steps, lanes, tape.sums(lstm.bias_hh));
  }
  static void collect(const Tape<T>& tape, const Layout& lstm) {
    const int n = lstm.hidden;
    tape.collect_narrow(lstm.weight_ih, static_cast<std::ptrdiff_t>(4) * n * lstm.input);
    tape.collect_wide(lstm.weight_hh, 4 * n, n);
    tape.collect_narrow(lstm.bias_hh, 4 * n);
    tape.share_gradient(lstm.bias_hh, 4 * n, lstm.bias_ih);  // the biases enter as a sum
  }
};

template <typename T>
using LstmEncoder = RecurrentEncoder<T, LstmCell>;

KALMIA_ENCODER_PASS(nn::LstmLayout, LstmEncoder);

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
