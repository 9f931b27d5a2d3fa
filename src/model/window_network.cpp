#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/window_network.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "model/window_conv-inl.h"
#include "model/window_network-inl.h"
#include "model/window_recurrent-inl.h"
#include "model/window_tape-inl.h"
#include "nn/mlp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

/// The pass over a window, for one kind of encoder (RecurrentEncoder, ConvEncoder). Holds no data
/// of its own: views of the input and the workspace.
template <typename T, typename Encoder>
class EncoderDecoder {
  using Transposed = typename WindowTape<T>::Transposed;

 public:
  explicit EncoderDecoder(const WindowTape<T>& tape)
      : tape_(tape), arch_(tape.arch), rows_(tape.rows), fwd_(tape, false) {}

  template <bool kTrain>
  void begin_forward(const T* carry_h) const {
    if (arch_.options.two_sided) {
      const Encoder bwd(tape_, true);
      bwd.begin_backward();
      for (int k = steps() - 2; k >= 0; --k) bwd.template forward<kTrain>(k);
    }
    fwd_.begin(carry_h);
  }
  template <bool kTrain>
  void forward(int begin, int end) const {
    for (int k = begin; k < end; ++k) {
      fwd_.template forward<kTrain>(k);
      decode(tape_.at(k));
    }
  }
  void end_forward(T* carry_h) const { fwd_.end(carry_h); }

  void clear_failed_lanes() const {
    for (int lane = 0; lane < lanes(); ++lane) {
      if (tape_.ws.lane_ok[static_cast<std::size_t>(lane)] != 0) continue;
      fwd_.clear_lane(lane);
      if (arch_.options.two_sided) Encoder(tape_, true).clear_lane(lane);
      for (int k = 0; k < steps(); ++k) tape_.set_lane(tape_.at(k), rows_.total, lane, nullptr);
    }
  }

  void backward(int begin, int end, int chunk_begin) const {
    if (end == steps()) {
      std::fill_n(d_h(), panel(arch_.directions() * units()), T(0));
      fwd_.begin_adjoint();
    }
    for (int k = end - 1; k >= begin; --k) {
      backward_decoder(k, chunk_begin);
      fwd_.backward(k);
    }
  }
  void gradients(int begin, int end) const {
    // Transposed h of the steps begin-1..end-1: a recurrent encoder's weights meet h[k-1], the
    // decoder's h[k].
    const int features = arch_.directions() * units();
    const Transposed h_T = tape_.transposed_place(features);
    fwd_.transpose_before(begin, h_T);
    for (int k = begin; k < end; ++k)
      tape_.put_transposed(tape_.at(k) + panel(rows_.h), features, h_T, k - begin + 1);
    fwd_.gradients(begin, end, h_T);
    decoder_gradients(begin, end, h_T);
  }
  void end_backward() const {
    fwd_.end_adjoint();
    if (arch_.options.two_sided) backward_bwd_direction();
  }
  void collect_gradients() const {
    fwd_.collect();
    if (arch_.options.two_sided) Encoder(tape_, true).collect();
    for (std::size_t i = 0; i + 1 < arch_.decoder.widths.size(); ++i) {
      const int height = arch_.decoder.widths[i + 1];
      tape_.collect_wide(arch_.decoder.weight[i], height, arch_.decoder.widths[i]);
      tape_.collect_narrow(arch_.decoder.bias[i], height);
    }
  }

 private:
  int steps() const { return tape_.in.steps; }
  int lanes() const { return tape_.in.lanes; }
  int units() const { return tape_.units; }
  std::ptrdiff_t panel(int count) const { return tape_.panel(count); }
  T* d_h() const { return tape_.ws.d_hidden_state.data(); }

  void decode(T* record) const {
    T* out = record + panel(rows_.out);
    mlp_forward(tape_.net.decoder, static_cast<const T*>(record + panel(rows_.h)), lanes(),
                record + panel(rows_.hidden), out);
    for (int i = 0; i < arch_.state_dim(); ++i) {
      const T* raw = out + panel(arch_.L_row() + lanes::triangle_index(i, i));
      T* diag = record + panel(rows_.diag + i);
      for (int lane = 0; lane < lanes(); lane += kLineLanes<T>)
        store(softplus(load(raw + lane)), diag + lane);
    }
  }

  // Adds the decoder's share of step k to d_h and leaves the adjoints of its layers in the chunk.
  void backward_decoder(int k, int chunk_begin) const {
    T* record = tape_.at(k);
    T* d_out = record + panel(rows_.out);
    for (int i = 0; i < arch_.state_dim(); ++i) {
      // d softplus(raw) = sigmoid(raw); `out` still holds raw in the diagonal's rows.
      T* raw = d_out + panel(arch_.L_row() + lanes::triangle_index(i, i));
      const T* d_diag = record + panel(rows_.diag + i);
      for (int lane = 0; lane < lanes(); lane += kLineLanes<T>)
        store(sigmoid(load(raw + lane)) * load(d_diag + lane), raw + lane);
    }
    T* d_h_bwd = d_h() + panel(units());
    if (arch_.options.two_sided) std::fill_n(d_h_bwd, panel(units()), T(0));
    mlp_backward(tape_.net.decoder, static_cast<const T*>(record + panel(rows_.hidden)),
                 static_cast<const T*>(d_out), lanes(),
                 tape_.ws.chunk.data() + (k - chunk_begin) * panel(arch_.decoder.hidden_rows()),
                 d_h());
    if (arch_.options.two_sided)
      std::copy_n(d_h_bwd, panel(units()), record + panel(rows_.d_h_bwd));
  }

  void backward_bwd_direction() const {
    const Encoder bwd(tape_, true);
    std::fill_n(d_h(), panel(units()), T(0));
    bwd.begin_adjoint();
    for (int k = 0; k + 1 < steps(); ++k) {
      tape_.add(tape_.at(k) + panel(rows_.d_h_bwd), units(), d_h());
      bwd.backward(k);
    }
    for (int begin = 0; begin + 1 < steps(); begin += kChunkSteps)
      bwd.gradients_backward(begin, std::min(steps() - 1, begin + kChunkSteps));
  }

  // h_T holds the transposed h of the step before `begin` and of the steps begin..end-1.
  void decoder_gradients(int begin, int end, const Transposed& h_T) const {
    const int layers = arch_.decoder.layers();
    int hidden_row = 0;
    for (int i = 0; i < layers; ++i) {
      const auto layer = static_cast<std::size_t>(i);
      const int in_rows = arch_.decoder.widths[layer];
      const int out_rows = arch_.decoder.widths[layer + 1];
      const PanelSeries<T> d_layer =
          i + 1 < layers ? PanelSeries<T>{tape_.ws.chunk.data() + panel(hidden_row),
                                          panel(arch_.decoder.hidden_rows())}
                         : PanelSeries<T>{tape_.at(begin) + panel(rows_.out), tape_.step};
      if (i == 0) {
        tape_.wide_gradient(arch_.decoder.weight[0], d_layer, out_rows, h_T.first + h_T.step, h_T,
                            in_rows, end - begin);
      } else {
        const Transposed below_T = tape_.transposed_place(in_rows);
        const int below = rows_.hidden + hidden_row - in_rows;
        for (int k = begin; k < end; ++k)
          tape_.put_transposed(tape_.at(k) + panel(below), in_rows, below_T, k - begin);
        tape_.wide_gradient(arch_.decoder.weight[layer], d_layer, out_rows, below_T.first, below_T,
                            in_rows, end - begin);
      }
      row_sums(d_layer, out_rows, end - begin, lanes(), tape_.sums(arch_.decoder.bias[layer]));
      hidden_row += out_rows;
    }
  }

  const WindowTape<T>& tape_;
  const Architecture& arch_;
  const RecordRows& rows_;
  const Encoder fwd_;
};

// Calls task with the pass made for the model's encoder.
template <typename T, typename Task>
HWY_INLINE void with_encoder(const WindowModel<T>& model, const WindowInput<T>& in,
                             Workspace<T>& ws, const Task& task) {
  const WindowTape<T> tape(model, in, ws);
  switch (model.architecture->options.encoder) {
    case nn::EncoderKind::Gru:
      return task(EncoderDecoder<T, RecurrentEncoder<T, GruCell>>(tape));
    case nn::EncoderKind::Lstm:
      return task(EncoderDecoder<T, RecurrentEncoder<T, LstmCell>>(tape));
    case nn::EncoderKind::Conv:
      return task(EncoderDecoder<T, ConvEncoder<T>>(tape));
  }
}

template <typename T>
void NetworkPass<T>::begin_forward(const T* carry_h) const {
  with_encoder(model, in, ws, [&](const auto& pass) HWY_ATTR {
    if (ws.training)
      pass.template begin_forward<true>(carry_h);
    else
      pass.template begin_forward<false>(carry_h);
  });
}
template <typename T>
void NetworkPass<T>::forward(int begin, int end) const {
  with_encoder(model, in, ws, [&](const auto& pass) HWY_ATTR {
    if (ws.training)
      pass.template forward<true>(begin, end);
    else
      pass.template forward<false>(begin, end);
  });
}
template <typename T>
void NetworkPass<T>::end_forward(T* carry_h) const {
  with_encoder(model, in, ws, [&](const auto& pass) HWY_ATTR { pass.end_forward(carry_h); });
}
template <typename T>
void NetworkPass<T>::clear_failed_lanes() const {
  with_encoder(model, in, ws, [](const auto& pass) HWY_ATTR { pass.clear_failed_lanes(); });
}
template <typename T>
void NetworkPass<T>::backward(int begin, int end, int chunk_begin) const {
  with_encoder(model, in, ws,
               [&](const auto& pass) HWY_ATTR { pass.backward(begin, end, chunk_begin); });
}
template <typename T>
void NetworkPass<T>::gradients(int begin, int end) const {
  with_encoder(model, in, ws, [&](const auto& pass) HWY_ATTR { pass.gradients(begin, end); });
}
template <typename T>
void NetworkPass<T>::end_backward() const {
  with_encoder(model, in, ws, [](const auto& pass) HWY_ATTR {
    pass.end_backward();
    pass.collect_gradients();
  });
}

template struct NetworkPass<float>;
template struct NetworkPass<double>;

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
