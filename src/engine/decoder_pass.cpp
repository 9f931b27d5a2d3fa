#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/decoder_pass.cpp"
#include <hwy/foreach_target.h>

#include "engine/decoder_pass-inl.h"
#include "lanes/math-inl.h"
#include "nn/mlp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

using namespace nn::HWY_NAMESPACE;  // NOLINT: networks of this instruction set

template <typename T>
void DecoderPass<T>::forward(T* record) const {
  const NetworkLayout& layout = tape.layout;
  const RecordRows& rows = tape.rows;
  T* out = record + tape.panel(rows.out);
  mlp_forward(tape.weights.decoder, static_cast<const T*>(record + tape.panel(rows.h)),
              tape.in.lanes, record + tape.panel(rows.hidden), out);
  for (std::size_t i = 0; i < layout.rows.positive.size(); ++i) {
    const T* raw = out + tape.panel(layout.rows.positive[i]);
    T* positive = record + tape.panel(rows.positive + static_cast<int>(i));
    for (int lane = 0; lane < tape.in.lanes; lane += kLineLanes<T>)
      store(softplus(load(raw + lane)), positive + lane);
  }
}

template <typename T>
void DecoderPass<T>::backward(int k, int chunk_begin) const {
  const NetworkLayout& layout = tape.layout;
  const RecordRows& rows = tape.rows;
  T* d_h = tape.ws.d_hidden_state.data();
  T* record = tape.at(k);
  T* d_out = record + tape.panel(rows.out);
  for (std::size_t i = 0; i < layout.rows.positive.size(); ++i) {
    // d softplus(raw) = sigmoid(raw); `out` still holds raw in these rows.
    T* raw = d_out + tape.panel(layout.rows.positive[i]);
    const T* d_positive = record + tape.panel(rows.positive + static_cast<int>(i));
    for (int lane = 0; lane < tape.in.lanes; lane += kLineLanes<T>)
      store(sigmoid(load(raw + lane)) * load(d_positive + lane), raw + lane);
  }
  T* d_h_bwd = d_h + tape.panel(tape.units);
  if (layout.networks.two_sided) std::fill_n(d_h_bwd, tape.panel(tape.units), T(0));
  mlp_backward(tape.weights.decoder, static_cast<const T*>(record + tape.panel(rows.hidden)),
               static_cast<const T*>(d_out), tape.in.lanes,
               tape.ws.chunk.data() + (k - chunk_begin) * tape.panel(layout.decoder.hidden_rows()),
               d_h);
  if (layout.networks.two_sided)
    std::copy_n(d_h_bwd, tape.panel(tape.units), record + tape.panel(rows.d_h_bwd));
}

template <typename T>
void DecoderPass<T>::gradients(int begin, int end, const Transposed& h_T) const {
  const NetworkLayout& layout = tape.layout;
  const RecordRows& rows = tape.rows;
  const int layers = layout.decoder.layers();
  int hidden_row = 0;
  for (int i = 0; i < layers; ++i) {
    const auto layer = static_cast<std::size_t>(i);
    const int in_rows = layout.decoder.widths[layer];
    const int out_rows = layout.decoder.widths[layer + 1];
    const PanelSeries<T> d_layer =
        i + 1 < layers ? PanelSeries<T>{tape.ws.chunk.data() + tape.panel(hidden_row),
                                        tape.panel(layout.decoder.hidden_rows())}
                       : PanelSeries<T>{tape.at(begin) + tape.panel(rows.out), tape.step};
    if (i == 0) {
      tape.wide_gradient(layout.decoder.weight[0], d_layer, out_rows, h_T.first + h_T.step, h_T,
                         in_rows, end - begin);
    } else {
      const Transposed below_T = tape.transposed_place(in_rows);
      const int below = rows.hidden + hidden_row - in_rows;
      for (int k = begin; k < end; ++k)
        tape.put_transposed(tape.at(k) + tape.panel(below), in_rows, below_T, k - begin);
      tape.wide_gradient(layout.decoder.weight[layer], d_layer, out_rows, below_T.first, below_T,
                         in_rows, end - begin);
    }
    row_sums(d_layer, out_rows, end - begin, tape.in.lanes, tape.sums(layout.decoder.bias[layer]));
    hidden_row += out_rows;
  }
}

template <typename T>
void DecoderPass<T>::collect() const {
  const NetworkLayout& layout = tape.layout;
  for (std::size_t i = 0; i + 1 < layout.decoder.widths.size(); ++i) {
    const int height = layout.decoder.widths[i + 1];
    tape.collect_wide(layout.decoder.weight[i], height, layout.decoder.widths[i]);
    tape.collect_narrow(layout.decoder.bias[i], height);
  }
}

template struct DecoderPass<float>;
template struct DecoderPass<double>;

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
