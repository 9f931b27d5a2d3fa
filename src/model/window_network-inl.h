// The networks over a window: GRU (one or both directions) and decoder, forward and backward, on
// the tape of records.hpp.

#if defined(KALMIA_MODEL_WINDOW_NETWORK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#undef KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#else
#define KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#endif

#include <algorithm>

#include "model/records.hpp"
#include "model/window.hpp"
#include "nn/gru-inl.h"
#include "nn/mlp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

using namespace nn::HWY_NAMESPACE;  // NOLINT: networks of this instruction set

// Steps of a lane in this window.
template <typename T>
HWY_INLINE int lane_length(const WindowInput<T>& in, int lane) {
  return in.length == nullptr ? in.steps : in.length[lane];
}
template <typename T>
HWY_INLINE bool lane_fresh(const WindowInput<T>& in, int lane) {
  return in.fresh == nullptr || in.fresh[lane] != 0;
}

/// The networks' part of a window. Holds no data of its own: views of the input and the workspace.
template <typename T>
class NetworkPass {
 public:
  NetworkPass(const WindowModel<T>& model, const WindowInput<T>& in, Workspace<T>& ws)
      : arch_(*model.architecture),
        net_(*model.network),
        in_(in),
        ws_(ws),
        rows_(arch_, ws.training),
        units_(arch_.options.hidden),
        step_(static_cast<std::ptrdiff_t>(rows_.total) * in.lanes) {}

  /// Takes h before the window from the carry, and runs the backward direction if there is one.
  template <bool kTrain>
  void begin_forward(const T* carry_h) {
    if (arch_.options.two_sided) forward_bwd_direction<kTrain>();
    T* start = ws_.start_h.data();
    std::copy_n(carry_h, panel(units_), start);
    for (int lane = 0; lane < in_.lanes; ++lane)
      if (lane_fresh(in_, lane)) set_lane(start, lane, nullptr);
  }

  /// Fills h, gates (if kTrain), hidden, out and diag of the records begin..end-1.
  template <bool kTrain>
  void forward(int begin, int end) {
    for (int k = begin; k < end; ++k) {
      const T* h = h_before(k);
      T* record = at(k);
      T* h_new = record + panel(rows_.h);
      gru_forward<kTrain>(net_.gru_fwd, input(in_.input_fwd, k), h, in_.lanes, h_new,
                          kTrain ? record + panel(rows_.gates) : h_new);
      // Alg. 1 starts with h[0] = 0; a lane past its end keeps its h.
      for (int lane = 0; lane < in_.lanes && (k == 0 || in_.length != nullptr); ++lane) {
        if (k == 0 && lane_fresh(in_, lane)) set_lane(h_new, lane, nullptr);
        if (k >= lane_length(in_, lane)) set_lane(h_new, lane, h);
      }
      decode(record);
    }
  }

  /// Leaves h after the window in the carry.
  void end_forward(T* carry_h) const { std::copy_n(h_before(in_.steps), panel(units_), carry_h); }

  /// Clears lanes that failed on the whole tape: with zero adjoints they then add exactly nothing
  /// to the weight gradients, where a NaN times zero would be a NaN.
  void clear_failed_lanes() {
    for (int lane = 0; lane < in_.lanes; ++lane) {
      if (ws_.lane_ok[static_cast<std::size_t>(lane)] != 0) continue;
      set_lane(ws_.start_h.data(), lane, nullptr);
      for (int k = 0; k < in_.steps; ++k)
        for (int row = 0; row < rows_.total; ++row) at(k)[panel(row) + lane] = T(0);
    }
  }

  /// From the adjoints in out and diag of the records begin..end-1 to those of the GRU's gates,
  /// last steps first. `chunk_begin` is the first step of the chunk whose weight gradients come
  /// next.
  void backward(int begin, int end, int chunk_begin) {
    T* d_h = ws_.d_hidden_state.data();
    if (end == in_.steps) std::fill_n(d_h, panel(arch_.directions() * units_), T(0));
    for (int k = end - 1; k >= begin; --k) {
      backward_decoder(k, chunk_begin, d_h);
      backward_gru(
          net_.gru_fwd, h_before(k), at(k) + panel(rows_.gates), d_h,
          [&](int lane) HWY_ATTR { return k == 0 && lane_fresh(in_, lane); },
          [&](int lane) HWY_ATTR { return k >= lane_length(in_, lane); },
          k == 0 || in_.length != nullptr);
    }
  }

  /// Adds the weight gradients of the steps begin..end-1 to ws.sums.
  void gradients(int begin, int end) {
    const int steps = end - begin;
    // Transposed h of the steps begin-1..end-1: the GRU's weights meet h[k-1], the decoder's h[k].
    const int rows = arch_.directions() * units_;
    const Transposed h_T = transposed_place(rows);
    transpose(h_before(begin), units_, in_.lanes, h_T.first, h_T.stride);
    for (int k = begin; k < end; ++k)
      transpose(static_cast<const T*>(at(k) + panel(rows_.h)), rows, in_.lanes,
                h_T.first + (k - begin + 1) * h_T.step, h_T.stride);
    gru_gradients(arch_.gru_fwd, {at(begin) + panel(rows_.gates), step_}, h_T,
                  {input(in_.input_fwd, begin), input_step()}, steps);
    decoder_gradients(begin, end, h_T);
  }

  /// Adds ws.sums to ws.gradient and clears them.
  void collect_gradients() {
    collect_gru(arch_.gru_fwd);
    if (arch_.options.two_sided) collect_gru(arch_.gru_bwd);
    for (std::size_t i = 0; i + 1 < arch_.decoder.widths.size(); ++i) {
      const int rows = arch_.decoder.widths[i + 1];
      collect_wide(arch_.decoder.weight[i], rows, arch_.decoder.widths[i]);
      collect_narrow(arch_.decoder.bias[i], rows);
    }
  }

  /// Sets ws.d_h, and goes back through the other direction if there is one.
  void end_backward() {
    std::copy_n(ws_.d_hidden_state.data(), panel(units_), ws_.d_h.data());
    if (arch_.options.two_sided) backward_bwd_direction();
  }

 private:
  T* at(int k) const { return ws_.records.data() + k * step_; }
  const T* h_before(int k) const {
    return k == 0 ? ws_.start_h.data() : at(k - 1) + panel(rows_.h);
  }
  std::ptrdiff_t panel(int rows) const { return static_cast<std::ptrdiff_t>(rows) * in_.lanes; }
  std::ptrdiff_t input_step() const { return panel(arch_.options.input_dim); }
  const T* input(const T* first, int k) const { return first + k * input_step(); }
  // Where a parameter's gradient is summed: a line a number (narrow: input weights and biases), or
  // the matrix with its rows padded to lines (wide, which needs less room).
  T* sums(std::ptrdiff_t parameter) const { return ws_.sums.data() + parameter * kLineLanes<T>; }
  void collect_narrow(std::ptrdiff_t parameter, std::ptrdiff_t count) const {
    sum_lines(sums(parameter), count, ws_.gradient.data() + parameter);
  }
  void collect_wide(std::ptrdiff_t parameter, int rows, int cols) const {
    const std::ptrdiff_t stride = lanes::padded_to_line<T>(cols);
    T* from = sums(parameter);
    T* to = ws_.gradient.data() + parameter;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) to[i * cols + j] += from[i * stride + j];
    std::fill_n(from, rows * stride, T(0));
  }
  void collect_gru(const nn::GruLayout& gru) const {
    collect_narrow(gru.weight_ih, static_cast<std::ptrdiff_t>(3) * units_ * gru.input);
    collect_wide(gru.weight_hh, 3 * units_, units_);
    collect_narrow(gru.bias_ih, 3 * units_);
    collect_narrow(gru.bias_hh, 3 * units_);
  }

  // Panels of `rows` features, transposed, one after another.
  struct Transposed {
    T* first;
    std::ptrdiff_t stride;  // from one lane to the next
    std::ptrdiff_t step;    // from one time step to the next
  };
  Transposed transposed_place(int rows) const {
    const std::ptrdiff_t stride = lanes::padded_to_line<T>(rows);
    return {ws_.transposed.data(), stride, stride * in_.lanes};
  }
  // d_W (rows x cols) += a b' over `steps` steps.
  void wide_gradient(std::ptrdiff_t weight, const PanelSeries<T>& a, int rows, const T* b_T,
                     const Transposed& place, int cols, int steps) const {
    outer_product_wide<T>(a, rows, {b_T, place.step}, place.stride, lanes::padded_to_line<T>(cols),
                          steps, in_.lanes, sums(weight));
  }

  // Copies one lane of a panel of hidden units from `from`, or clears it.
  void set_lane(T* to, int lane, const T* from) const {
    for (int u = 0; u < units_; ++u)
      to[panel(u) + lane] = from == nullptr ? T(0) : from[panel(u) + lane];
  }

  void decode(T* record) const {
    T* out = record + panel(rows_.out);
    mlp_forward(net_.decoder, static_cast<const T*>(record + panel(rows_.h)), in_.lanes,
                record + panel(rows_.hidden), out);
    for (int i = 0; i < arch_.state_dim(); ++i) {
      const T* raw = out + panel(arch_.L_row() + lanes::triangle_index(i, i));
      T* diag = record + panel(rows_.diag + i);
      for (int lane = 0; lane < in_.lanes; lane += kLineLanes<T>)
        store(softplus(load(raw + lane)), diag + lane);
    }
  }

  // h_bwd[k] = GRU(y[k+1], h_bwd[k+1]); zero at the last step of a lane and after it.
  template <bool kTrain>
  void forward_bwd_direction() {
    std::fill_n(at(in_.steps - 1) + panel(rows_.h + units_), panel(units_), T(0));
    for (int k = in_.steps - 2; k >= 0; --k) {
      T* record = at(k);
      T* h_new = record + panel(rows_.h + units_);
      gru_forward<kTrain>(net_.gru_bwd, input(in_.input_bwd, k),
                          at(k + 1) + panel(rows_.h + units_), in_.lanes, h_new,
                          kTrain ? record + panel(rows_.gates + 4 * units_) : h_new);
      for (int lane = 0; lane < in_.lanes && in_.length != nullptr; ++lane)
        if (k + 1 >= in_.length[lane]) set_lane(h_new, lane, nullptr);
    }
  }

  // Adds the decoder's share of step k to d_h and leaves the adjoints of its layers in the chunk.
  void backward_decoder(int k, int chunk_begin, T* d_h) const {
    T* record = at(k);
    T* d_out = record + panel(rows_.out);
    for (int i = 0; i < arch_.state_dim(); ++i) {
      // d softplus(raw) = sigmoid(raw); `out` still holds raw in the diagonal's rows.
      T* raw = d_out + panel(arch_.L_row() + lanes::triangle_index(i, i));
      const T* d_diag = record + panel(rows_.diag + i);
      for (int lane = 0; lane < in_.lanes; lane += kLineLanes<T>)
        store(sigmoid(load(raw + lane)) * load(d_diag + lane), raw + lane);
    }
    if (arch_.options.two_sided) std::fill_n(d_h + panel(units_), panel(units_), T(0));
    mlp_backward(net_.decoder, static_cast<const T*>(record + panel(rows_.hidden)),
                 static_cast<const T*>(d_out), in_.lanes,
                 ws_.chunk.data() + (k - chunk_begin) * panel(arch_.decoder.hidden_rows()), d_h);
    if (arch_.options.two_sided)
      std::copy_n(d_h + panel(units_), panel(units_), record + panel(rows_.d_h_bwd));
  }

  // One GRU step back. `cut(lane)`: h_new was set to 0 there; `held(lane)`: it was h_old.
  template <typename Cut, typename Held>
  void backward_gru(const nn::PackedGru<T>& gru, const T* h_old, T* gates, T* d_h, Cut cut,
                    Held held, bool any) const {
    T* kept = ws_.saved.data();
    bool restore = false;
    for (int lane = 0; lane < in_.lanes && any; ++lane) {
      const bool hold = held(lane);
      if (!hold && !cut(lane)) continue;
      if (hold && !restore) {
        std::fill_n(kept, panel(units_), T(0));
        restore = true;
      }
      if (hold) set_lane(kept, lane, d_h);
      set_lane(d_h, lane, nullptr);
    }
    gru_backward(gru, h_old, in_.lanes, gates, d_h);
    if (restore)
      for (std::ptrdiff_t i = 0; i < panel(units_); i += kLineLanes<T>)
        store(load(d_h + i) + load(kept + i), d_h + i);
  }

  void backward_bwd_direction() {
    T* d_h = ws_.d_hidden_state.data();
    std::fill_n(d_h, panel(units_), T(0));
    for (int k = 0; k + 1 < in_.steps; ++k) {
      const T* d_k = at(k) + panel(rows_.d_h_bwd);
      for (std::ptrdiff_t i = 0; i < panel(units_); i += kLineLanes<T>)
        store(load(d_h + i) + load(d_k + i), d_h + i);
      backward_gru(
          net_.gru_bwd, at(k + 1) + panel(rows_.h + units_),
          at(k) + panel(rows_.gates + 4 * units_), d_h,
          [&](int lane) HWY_ATTR { return k + 1 >= lane_length(in_, lane); },
          [](int) HWY_ATTR { return false; }, in_.length != nullptr);
    }
    const Transposed h_T = transposed_place(units_);
    for (int begin = 0; begin + 1 < in_.steps; begin += kChunkSteps) {
      const int end = std::min(in_.steps - 1, begin + kChunkSteps);
      for (int k = begin; k < end; ++k)
        transpose(static_cast<const T*>(at(k + 1) + panel(rows_.h + units_)), units_, in_.lanes,
                  h_T.first + (k - begin) * h_T.step, h_T.stride);
      gru_gradients(arch_.gru_bwd, {at(begin) + panel(rows_.gates + 4 * units_), step_}, h_T,
                    {input(in_.input_bwd, begin), input_step()}, end - begin);
    }
  }

  // Weight gradients of a GRU over `steps` steps (see gru_backward for what the gates hold). h_T
  // holds the transposed h before each step.
  void gru_gradients(const nn::GruLayout& gru, const PanelSeries<T>& gates, const Transposed& h_T,
                     const PanelSeries<T>& x, int steps) const {
    const int n = units_;
    wide_gradient(gru.weight_hh, gates, 3 * n, h_T.first, h_T, n, steps);
    outer_product_narrow(gates, 2 * n, x, gru.input, steps, in_.lanes, sums(gru.weight_ih));
    const PanelSeries<T> a_n{gates.first + panel(3 * n), gates.step};
    outer_product_narrow(a_n, n, x, gru.input, steps, in_.lanes,
                         sums(gru.weight_ih + static_cast<std::ptrdiff_t>(2) * n * gru.input));
    // The r and z rows of both biases have the same gradient; bias_ih gets a copy at the end.
    row_sums(gates, 3 * n, steps, in_.lanes, sums(gru.bias_hh));
    row_sums(a_n, n, steps, in_.lanes, sums(gru.bias_ih + 2 * n));
  }

  // h_T holds the transposed h of the step before `begin` and of the steps begin..end-1.
  void decoder_gradients(int begin, int end, const Transposed& h_T) const {
    const int layers = arch_.decoder.layers();
    const int steps = end - begin;
    int hidden_row = 0;
    for (int i = 0; i < layers; ++i) {
      const auto layer = static_cast<std::size_t>(i);
      const int in_rows = arch_.decoder.widths[layer];
      const int out_rows = arch_.decoder.widths[layer + 1];
      const PanelSeries<T> d_layer = i + 1 < layers
                                         ? PanelSeries<T>{ws_.chunk.data() + panel(hidden_row),
                                                          panel(arch_.decoder.hidden_rows())}
                                         : PanelSeries<T>{at(begin) + panel(rows_.out), step_};
      if (i == 0) {
        wide_gradient(arch_.decoder.weight[0], d_layer, out_rows, h_T.first + h_T.step, h_T,
                      in_rows, steps);
      } else {
        const Transposed below_T = transposed_place(in_rows);
        const int below = rows_.hidden + hidden_row - in_rows;
        for (int k = begin; k < end; ++k)
          transpose(static_cast<const T*>(at(k) + panel(below)), in_rows, in_.lanes,
                    below_T.first + (k - begin) * below_T.step, below_T.stride);
        wide_gradient(arch_.decoder.weight[layer], d_layer, out_rows, below_T.first, below_T,
                      in_rows, steps);
      }
      row_sums(d_layer, out_rows, steps, in_.lanes, sums(arch_.decoder.bias[layer]));
      hidden_row += out_rows;
    }
  }

  const Architecture& arch_;
  const PackedNetwork<T>& net_;
  const WindowInput<T>& in_;
  Workspace<T>& ws_;
  const RecordRows rows_;
  const int units_;
  const std::ptrdiff_t step_;
};

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
