// A temporal convolutional network over a window, in one direction, and its adjoint.
//
// z_l of the steps lies in ws.encoder, layer after layer, in the order it is read, after that of
// the 2^l steps before the window:
//
//   position   0 ... 2^l-1             2^l + p
//   holds      carried z_l, or zeros   z_l of the p-th step of the sweep
//
// After the layers of both directions come, in training, their adjoints (one direction at a time),
// and last a panel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/tcn_encoder.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "engine/encoder_decoder-inl.h"
#include "nn/tcn-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// h[k] from z_l[k] and z_l[k - 2^l] of each layer, or z_l[k + 2^l] backward. At and before the
/// step where a lane starts z_l is zero: it is of no measurement.
template <typename T>
class TcnEncoder {
  using Transposed = typename Tape<T>::Transposed;

 public:
  TcnEncoder(const Tape<T>& tape, bool backward)
      : tape_(tape),
        sweep_(tape, backward),
        weights_(std::get<nn::PackedTcn<T>>(
            (backward ? tape.weights.encoder_bwd : tape.weights.encoder_fwd).weights)),
        layout_(
            std::get<nn::TcnLayout>(backward ? tape.layout.encoder_bwd : tape.layout.encoder_fwd)),
        direction_(backward ? 1 : 0) {}

  void begin(const T* carry) const {
    each_carried([&](int layer, std::ptrdiff_t at, int rows) HWY_ATTR {
      std::copy_n(carry + at, tape_.panel(rows), z(layer, 0));
      for (int lane = 0; lane < lanes(); ++lane)
        if (tape_.in.lane_fresh(lane)) tape_.set_lane(z(layer, 0), rows, lane, nullptr);
    });
  }
  void begin_backward() const {
    each_carried([&](int layer, std::ptrdiff_t, int rows)
                     HWY_ATTR { std::fill_n(z(layer, 0), tape_.panel(rows + units()), T(0)); });
    std::fill_n(h(tape_.in.steps - 1), tape_.panel(units()), T(0));
  }

  template <bool kTrain>
  void forward(int k) const {
    const int depth = layout_.depth();
    const auto into = [&](int layer) HWY_ATTR { return layer < depth ? own(layer, k) : h(k); };
    product(weights_.embed, sweep_.input_at(k), lanes(), Start::Bias, weights_.embed_bias.data(),
            into(0));
    if (depth > 0) sweep_.clear_starting(tape_, k, into(0), units());
    for (int layer = 0; layer < depth; ++layer) {
      tcn_layer_forward<T>(weights_.layer[static_cast<std::size_t>(layer)], old(layer, k),
                           own(layer, k), lanes(), kTrain ? branch(layer, k) : panel(),
                           into(layer + 1));
      if (layer + 1 < depth) sweep_.clear_starting(tape_, k, into(layer + 1), units());
    }
    T* out = h(k);
    for (std::ptrdiff_t i = 0; i < tape_.panel(units()); i += kLineLanes<T>)
      store(tanh(load(out + i)), out + i);
    sweep_.clear_starting(tape_, k, out, units());
  }

  void end(T* carry) const {
    each_carried([&](int layer, std::ptrdiff_t at, int rows) HWY_ATTR {
      std::copy_n(z(layer, tape_.in.steps), tape_.panel(rows), carry + at);
      for (int lane = 0; lane < lanes() && tape_.in.length != nullptr; ++lane)
        tape_.set_lane(carry + at, rows, lane, z(layer, tape_.in.length[lane]));
    });
  }

  void clear_lane(int lane) const {
    each_carried([&](int layer, std::ptrdiff_t, int rows) HWY_ATTR {
      tape_.set_lane(z(layer, 0), rows + tape_.in.steps * units(), lane, nullptr);
    });
  }

  void begin_adjoint() const { std::fill_n(d_z(0, 0), series_size(), T(0)); }
  /// Leaves the adjoint of h[k] at zero: h does not depend on the h before it.
  void backward(int k) const {
    T* d_h = tape_.ws.d_hidden_state.data();
    sweep_.clear_starting(tape_, k, d_h, units());
    const T* out = h(k);
    T* d_above = panel();
    const Line<T> one = broadcast(T(1));
    for (std::ptrdiff_t i = 0; i < tape_.panel(units()); i += kLineLanes<T>) {
      const Line<T> value = load(out + i);
      store(load(d_h + i) * fnma(value, value, one), d_above + i);
    }
    for (int layer = layout_.depth() - 1; layer >= 0; --layer) {
      T* d_own = d_z(layer, position(layer, k));
      tcn_layer_backward<T>(weights_.layer[static_cast<std::size_t>(layer)], d_above, lanes(),
                            branch(layer, k),
                            d_z(layer, position(layer, k) - layout_.dilation(layer)), d_own);
      sweep_.clear_starting(tape_, k, d_own, units());
      d_above = d_own;
    }
    std::copy_n(d_above, tape_.panel(units()), branch(layout_.depth(), k));
    std::fill_n(d_h, tape_.panel(units()), T(0));
  }
  void end_adjoint() const {
    T* d_carry = tape_.ws.d_h.data();
    each_carried([&](int layer, std::ptrdiff_t at, int rows) HWY_ATTR {
      std::copy_n(d_z(layer, 0), tape_.panel(rows), d_carry + at);
      for (int lane = 0; lane < lanes(); ++lane)
        if (tape_.in.lane_fresh(lane)) tape_.set_lane(d_carry + at, rows, lane, nullptr);
    });
  }

  void transpose_before(int, const Transposed&) const {}
  void gradients(int begin, int end, const Transposed&) const { gradients_backward(begin, end); }
  void gradients_backward(int begin, int end) const {
    const int H = units(), steps = end - begin;
    const std::ptrdiff_t one = tape_.panel(H) * (sweep_.backward ? -1 : 1);
    for (int layer = 0; layer < layout_.depth(); ++layer) {
      const auto l = static_cast<std::size_t>(layer);
      const PanelSeries<T> a{branch(layer, begin), tape_.step};
      tape_.encoder_gradient(layout_.newer[l], a, H, {own(layer, begin), one}, H, steps);
      tape_.encoder_gradient(layout_.older[l], a, H, {old(layer, begin), one}, H, steps);
      row_sums(a, H, steps, lanes(), tape_.sums(layout_.bias[l]));
    }
    const PanelSeries<T> d_z_0{branch(layout_.depth(), begin), tape_.step};
    const PanelSeries<T> x{sweep_.input_at(begin), sweep_.panel};
    outer_product_narrow(d_z_0, H, x, layout_.input, steps, lanes(), tape_.sums(layout_.embed));
    row_sums(d_z_0, H, steps, lanes(), tape_.sums(layout_.embed_bias));
  }
  void collect() const {
    const int H = units();
    for (std::size_t l = 0; l < layout_.older.size(); ++l) {
      tape_.collect_wide(layout_.newer[l], H, H);
      tape_.collect_wide(layout_.older[l], H, H);
      tape_.collect_narrow(layout_.bias[l], H);
    }
    tape_.collect_narrow(layout_.embed, static_cast<std::ptrdiff_t>(H) * layout_.input);
    tape_.collect_narrow(layout_.embed_bias, H);
  }

 private:
  int lanes() const { return tape_.in.lanes; }
  int units() const { return tape_.units; }

  // Calls task(layer, where its part of a carried state begins, rows of that part).
  template <typename Task>
  HWY_INLINE void each_carried(const Task& task) const {
    for (int layer = 0; layer < layout_.depth(); ++layer)
      task(layer, tape_.panel(layout_.reach(layer) * units()), layout_.dilation(layer) * units());
  }

  // Numbers of all layers of one direction.
  std::ptrdiff_t series_size() const {
    return layout_.series_panels(tape_.in.steps) * tape_.panel(units());
  }
  // Where a layer's position lies among them.
  std::ptrdiff_t place(int layer, int position) const {
    return (layout_.reach(layer) + static_cast<std::ptrdiff_t>(layer) * tape_.in.steps + position) *
           tape_.panel(units());
  }
  int position(int layer, int k) const { return layout_.dilation(layer) + sweep_.position(k); }
  T* z(int layer, int position) const {
    return tape_.ws.encoder.data() + direction_ * series_size() + place(layer, position);
  }
  T* own(int layer, int k) const { return z(layer, position(layer, k)); }
  T* old(int layer, int k) const { return z(layer, sweep_.position(k)); }
  T* d_z(int layer, int position) const {
    return tape_.ws.encoder.data() + tape_.layout.directions() * series_size() +
           place(layer, position);
  }
  T* panel() const {
    const int all = tape_.layout.directions() + (tape_.ws.training ? 1 : 0);
    return tape_.ws.encoder.data() + all * series_size();
  }
  T* h(int k) const { return tape_.at(k) + tape_.panel(tape_.rows.h + direction_ * units()); }
  T* branch(int layer, int k) const {
    return tape_.at(k) +
           tape_.panel(tape_.rows.gates + (direction_ * (layout_.depth() + 1) + layer) * units());
  }

  const Tape<T>& tape_;
  const Sweep<T> sweep_;
  const nn::PackedTcn<T>& weights_;
  const nn::TcnLayout& layout_;
  const int direction_;
};

KALMIA_ENCODER_PASS(nn::TcnLayout, TcnEncoder);

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
