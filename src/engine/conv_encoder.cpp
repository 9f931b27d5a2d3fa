// A convolutional encoder over a window, in one direction, and its adjoint.
//
// The inputs lie in ws.encoder in the order they are read, after the taps - 1 before the window:
//
//   position   0 ... taps-2               taps-1 + p
//   holds      carried inputs, or zeros   input of the p-th step of the sweep
//
// so that what step p reads is one panel, positions p ... p + taps - 1. After the inputs of both
// directions come the adjoints of the carried inputs, and room for those that are read with them.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/conv_encoder.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "engine/encoder_decoder-inl.h"
#include "nn/conv-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// h[k] = tanh(sum over j of W_j x[k-j] + b), or x[k+j] backward. Inputs at and before the step
/// where a lane starts count as zero: they are of no measurement.
template <typename T>
class ConvEncoder {
  using Transposed = typename Tape<T>::Transposed;

 public:
  ConvEncoder(const Tape<T>& tape, bool backward)
      : tape_(tape),
        sweep_(tape, backward),
        weights_(std::get<nn::PackedConv<T>>(
            (backward ? tape.weights.encoder_bwd : tape.weights.encoder_fwd).weights)),
        layout_(
            std::get<nn::ConvLayout>(backward ? tape.layout.encoder_bwd : tape.layout.encoder_fwd)),
        direction_(backward ? 1 : 0) {}

  /// Takes the inputs before the window from the carry, zero where a series starts, and those of
  /// the window.
  void begin(const T* carry) const {
    std::copy_n(carry, tape_.panel(state_rows()), series(0));
    for (int lane = 0; lane < lanes(); ++lane)
      if (tape_.in.lane_fresh(lane)) tape_.set_lane(series(0), state_rows(), lane, nullptr);
    for (int k = 0; k < tape_.in.steps; ++k) read_input(k);
  }
  /// The same for the backward direction: nothing comes before its first step, which is the last,
  /// and reads nothing.
  void begin_backward() const {
    const int last = tape_.in.steps - 1;
    std::fill_n(series(0), tape_.panel(state_rows() + layout_.input), T(0));
    for (int k = 0; k < last; ++k) read_input(k);
    std::fill_n(h(last), tape_.panel(tape_.units), T(0));
  }

  /// Sets h[k].
  template <bool kTrain>
  void forward(int k) const {
    conv_forward(weights_, static_cast<const T*>(series(sweep_.position(k))), lanes(), h(k));
    sweep_.clear_starting(tape_, k, h(k), tape_.units);
  }

  /// Leaves the last taps - 1 inputs of each lane in the carry.
  void end(T* carry) const {
    std::copy_n(series(tape_.in.steps), tape_.panel(state_rows()), carry);
    for (int lane = 0; lane < lanes() && tape_.in.length != nullptr; ++lane)
      tape_.set_lane(carry, state_rows(), lane, series(tape_.in.length[lane]));
  }

  /// Clears what the tape holds of a lane beside the records.
  void clear_lane(int lane) const {
    tape_.set_lane(series(0), state_rows() + tape_.in.steps * layout_.input, lane, nullptr);
  }

  /// From the adjoint of h[k] (ws.d_hidden_state, left at zero) to that of the sum in tanh, and to
  /// the carried inputs.
  void backward(int k) const {
    T* d_h = tape_.ws.d_hidden_state.data();
    sweep_.clear_starting(tape_, k, d_h, tape_.units);
    const bool reads_carry = !sweep_.backward && k < layout_.taps - 1;
    conv_backward(weights_, static_cast<const T*>(h(k)), static_cast<const T*>(d_h), lanes(),
                  adjoint(k), reads_carry ? d_carried() + k * sweep_.panel : nullptr);
    std::fill_n(d_h, tape_.panel(tape_.units), T(0));
  }

  /// Clears the adjoint of the carried inputs.
  void begin_adjoint() const {
    if (!sweep_.backward) std::fill_n(d_carried(), tape_.panel(2 * state_rows()), T(0));
  }
  /// Sets ws.d_h, the adjoint of the carried inputs.
  void end_adjoint() const {
    T* d_h = tape_.ws.d_h.data();
    std::copy_n(d_carried(), tape_.panel(state_rows()), d_h);
    for (int lane = 0; lane < lanes(); ++lane)
      if (tape_.in.lane_fresh(lane)) tape_.set_lane(d_h, state_rows(), lane, nullptr);
  }

  void transpose_before(int, const Transposed&) const {}  // h does not depend on the h before it
  /// Weight gradients of the steps begin..end-1.
  void gradients(int begin, int end, const Transposed&) const { gradients_backward(begin, end); }
  void gradients_backward(int begin, int end) const {
    const PanelSeries<T> a{adjoint(begin), tape_.step};
    const PanelSeries<T> x{series(sweep_.position(begin)),
                           sweep_.backward ? -sweep_.panel : sweep_.panel};
    outer_product_narrow(a, tape_.units, x, layout_.taps * layout_.input, end - begin, lanes(),
                         tape_.sums(layout_.weight));
    row_sums(a, tape_.units, end - begin, lanes(), tape_.sums(layout_.bias));
  }
  void collect() const {
    tape_.collect_narrow(layout_.weight,
                         static_cast<std::ptrdiff_t>(tape_.units) * layout_.taps * layout_.input);
    tape_.collect_narrow(layout_.bias, tape_.units);
  }

 private:
  int lanes() const { return tape_.in.lanes; }
  int state_rows() const { return (layout_.taps - 1) * layout_.input; }
  // Positions of one direction.
  int whole() const { return tape_.in.steps + layout_.taps - 1; }
  T* series(int position) const {
    return tape_.ws.encoder.data() + (direction_ * whole() + position) * sweep_.panel;
  }
  T* d_carried() const {
    return tape_.ws.encoder.data() + tape_.layout.directions() * whole() * sweep_.panel;
  }
  T* h(int k) const { return tape_.at(k) + tape_.panel(tape_.rows.h + direction_ * tape_.units); }
  T* adjoint(int k) const {
    return tape_.at(k) + tape_.panel(tape_.rows.gates + direction_ * tape_.units);
  }
  void read_input(int k) const {
    T* to = series(layout_.taps - 1 + sweep_.position(k));
    std::copy_n(sweep_.input_at(k), sweep_.panel, to);
    sweep_.clear_starting(tape_, k, to, layout_.input);
  }
  const Tape<T>& tape_;
  const Sweep<T> sweep_;
  const nn::PackedConv<T>& weights_;
  const nn::ConvLayout& layout_;
  const int direction_;
};

KALMIA_ENCODER_PASS(nn::ConvLayout, ConvEncoder);

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
