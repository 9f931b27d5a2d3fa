// A transformer over a window, in one direction, and its adjoint.
//
// The slots of the steps (key, value, mark) lie in ws.encoder in the order they are read, after
// those of the taps - 1 steps before the window, so that each step finds the ones it attends to
// before its own:
//
//   position   0 ... taps-2              taps-1 + p
//   holds      carried slots, or zeros   slot of the p-th step of the sweep
//
// After the slots of both directions come, in training, their adjoints (one direction at a time),
// those of a chunk of steps and a panel beside; else the tape of one step.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/transformer_encoder.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "engine/encoder_decoder-inl.h"
#include "nn/transformer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// h[k] from x[k] and the slots of the last taps - 1 steps, or of the next ones backward. A step at
/// or before the one where a lane starts does not exist: it is of no measurement.
template <typename T>
class TransformerEncoder {
  using Transposed = typename Tape<T>::Transposed;

 public:
  TransformerEncoder(const Tape<T>& tape, bool backward)
      : tape_(tape),
        sweep_(tape, backward),
        weights_(std::get<nn::PackedTransformer<T>>(
            (backward ? tape.weights.encoder_bwd : tape.weights.encoder_fwd).weights)),
        layout_(std::get<nn::TransformerLayout>(backward ? tape.layout.encoder_bwd
                                                         : tape.layout.encoder_fwd)),
        at_(layout_.tape()),
        to_(layout_.adjoint()),
        direction_(backward ? 1 : 0) {}

  void begin(const T* carry) const {
    std::copy_n(carry, tape_.panel(state_rows()), slot(0));
    for (int lane = 0; lane < lanes(); ++lane)
      if (tape_.in.lane_fresh(lane)) tape_.set_lane(slot(0), state_rows(), lane, nullptr);
  }
  void begin_backward() const {
    std::fill_n(slot(0), tape_.panel(state_rows() + slot_rows()), T(0));
    std::fill_n(h(tape_.in.steps - 1), tape_.panel(units()), T(0));
  }

  template <bool kTrain>
  void forward(int k) const {
    transformer_forward(weights_, at_, sweep_.input_at(k), lanes(), own(k),
                        kTrain ? tape(k) : beyond_slots(), h(k));
    sweep_.clear_starting(tape_, k, own(k), slot_rows());
    sweep_.clear_starting(tape_, k, h(k), units());
  }

  void end(T* carry) const {
    std::copy_n(slot(tape_.in.steps), tape_.panel(state_rows()), carry);
    for (int lane = 0; lane < lanes() && tape_.in.length != nullptr; ++lane)
      tape_.set_lane(carry, state_rows(), lane, slot(tape_.in.length[lane]));
  }

  void clear_lane(int lane) const {
    tape_.set_lane(slot(0), positions() * slot_rows(), lane, nullptr);
  }

  void begin_adjoint() const {
    std::fill_n(d_slot(0), tape_.panel(positions() * slot_rows()), T(0));
  }
  /// Leaves the adjoint of h[k] at zero: h does not depend on the h before it.
  void backward(int k) const {
    T* d_h = tape_.ws.d_hidden_state.data();
    sweep_.clear_starting(tape_, k, d_h, units());
    T* beside = d_slot(positions()) + tape_.panel(kChunkSteps * to_.total);
    transformer_backward<T>(weights_, at_, to_, h(k), d_h, own(k), lanes(), tape(k),
                            d_slot(position(k)), adjoint(k), beside);
    std::fill_n(d_h, tape_.panel(units()), T(0));
  }
  void end_adjoint() const {
    T* d_carry = tape_.ws.d_h.data();
    std::copy_n(d_slot(0), tape_.panel(state_rows()), d_carry);
    for (int lane = 0; lane < lanes(); ++lane)
      if (tape_.in.lane_fresh(lane)) tape_.set_lane(d_carry, state_rows(), lane, nullptr);
  }

  void transpose_before(int, const Transposed&) const {}
  void gradients(int begin, int end, const Transposed&) const { gradients_backward(begin, end); }
  void gradients_backward(int begin, int end) const {
    const int H = units(), steps = end - begin;
    const auto taped = [&](int row) HWY_ATTR {
      return PanelSeries<T>{tape(begin) + tape_.panel(row), tape_.step};
    };
    const auto d = [&](int row) HWY_ATTR {
      return PanelSeries<T>{adjoint(begin) + tape_.panel(row), tape_.panel(to_.total)};
    };
    const std::ptrdiff_t slot_step = tape_.panel(slot_rows());
    const PanelSeries<T> d_key_value{d_slot(position(begin)),
                                     sweep_.backward ? -slot_step : slot_step};
    const PanelSeries<T> x{sweep_.input_at(begin), sweep_.panel};
    const auto sum = [&](std::ptrdiff_t bias, const PanelSeries<T>& of, int rows)
                         HWY_ATTR { row_sums(of, rows, steps, lanes(), tape_.sums(bias)); };
    tape_.encoder_gradient(layout_.contract, d(to_.out), H, taped(at_.inner), 2 * H, steps);
    sum(layout_.contract_bias, d(to_.out), H);
    tape_.encoder_gradient(layout_.expand, d(to_.inner), 2 * H, taped(at_.norm_r), H, steps);
    sum(layout_.expand_bias, d(to_.inner), 2 * H);
    tape_.encoder_gradient(layout_.output, d(to_.r), H, taped(at_.heard), H, steps);
    sum(layout_.output_bias, d(to_.r), H);
    sum(layout_.position, taped(at_.weights), layout_.heads * layout_.taps);
    tape_.encoder_gradient(layout_.query, d(to_.query), H, taped(at_.norm_u), H, steps);
    sum(layout_.query_bias, d(to_.query), H);
    tape_.encoder_gradient(layout_.key_value, d_key_value, 2 * H, taped(at_.norm_u), H, steps);
    outer_product_narrow(d(to_.u), H, x, layout_.input, steps, lanes(), tape_.sums(layout_.embed));
    sum(layout_.embed_bias, d(to_.u), H);
  }
  void collect() const {
    const int H = units();
    tape_.collect_wide(layout_.contract, H, 2 * H);
    tape_.collect_narrow(layout_.contract_bias, H);
    tape_.collect_wide(layout_.expand, 2 * H, H);
    tape_.collect_narrow(layout_.expand_bias, 2 * H);
    tape_.collect_wide(layout_.output, H, H);
    tape_.collect_narrow(layout_.output_bias, H);
    tape_.collect_narrow(layout_.position, layout_.heads * layout_.taps);
    tape_.collect_wide(layout_.query, H, H);
    tape_.collect_narrow(layout_.query_bias, H);
    tape_.collect_wide(layout_.key_value, 2 * H, H);
    tape_.collect_narrow(layout_.embed, static_cast<std::ptrdiff_t>(H) * layout_.input);
    tape_.collect_narrow(layout_.embed_bias, H);
  }

 private:
  int lanes() const { return tape_.in.lanes; }
  int units() const { return tape_.units; }
  int slot_rows() const { return layout_.slot_rows(); }
  int state_rows() const { return (layout_.taps - 1) * slot_rows(); }
  // Slots of one direction, and that of step k among them.
  int positions() const { return layout_.taps - 1 + tape_.in.steps; }
  int position(int k) const { return layout_.taps - 1 + sweep_.position(k); }

  T* slot(int position) const {
    return tape_.ws.encoder.data() +
           (direction_ * positions() + position) * tape_.panel(slot_rows());
  }
  T* own(int k) const { return slot(position(k)); }
  T* beyond_slots() const {
    return tape_.ws.encoder.data() +
           tape_.layout.directions() * positions() * tape_.panel(slot_rows());
  }
  T* d_slot(int position) const { return beyond_slots() + position * tape_.panel(slot_rows()); }
  // Chunks begin at multiples of kChunkSteps.
  T* adjoint(int k) const { return d_slot(positions()) + k % kChunkSteps * tape_.panel(to_.total); }
  T* h(int k) const { return tape_.at(k) + tape_.panel(tape_.rows.h + direction_ * units()); }
  T* tape(int k) const {
    return tape_.at(k) + tape_.panel(tape_.rows.gates + direction_ * at_.total);
  }

  const Tape<T>& tape_;
  const Sweep<T> sweep_;
  const nn::PackedTransformer<T>& weights_;
  const nn::TransformerLayout& layout_;
  const nn::TransformerTape at_;
  const nn::TransformerAdjoint to_;
  const int direction_;
};

KALMIA_ENCODER_PASS(nn::TransformerLayout, TransformerEncoder);

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
