// A recurrent encoder (GRU or LSTM) over a window, in one direction, and its adjoint. ws.encoder
// holds the state before the window, zero where a series starts, and the gates of a step where no
// tape is kept.

#if defined(KALMIA_ENGINE_RECURRENT_ENCODER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_RECURRENT_ENCODER_INL_H_
#undef KALMIA_ENGINE_RECURRENT_ENCODER_INL_H_
#else
#define KALMIA_ENGINE_RECURRENT_ENCODER_INL_H_
#endif

#include <algorithm>

#include "engine/tape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

using namespace nn::HWY_NAMESPACE;  // NOLINT: networks of this instruction set

/// state[k] = Cell(x[k], state[k-1]), or state[k+1] backward; h is the state's first panel.
template <typename T, template <typename> typename CellOf>
class RecurrentEncoder {
  using Cell = CellOf<T>;
  using State = typename Cell::State;
  using Transposed = typename Tape<T>::Transposed;
  static constexpr int kPanels = Cell::kPanels;

 public:
  RecurrentEncoder(const Tape<T>& tape, bool backward)
      : tape_(tape),
        sweep_(tape, backward),
        weights_(std::get<typename Cell::Packed>(
            (backward ? tape.weights.encoder_bwd : tape.weights.encoder_fwd).weights)),
        layout_(std::get<typename Cell::Layout>(backward ? tape.layout.encoder_bwd
                                                         : tape.layout.encoder_fwd)),
        direction_(backward ? 1 : 0) {}

  /// Sets the state before the window: the carried one, zero where a series starts.
  void begin(const T* carry) const {
    T* start = tape_.ws.encoder.data();
    std::copy_n(carry, tape_.panel(kPanels * units()), start);
    for (int lane = 0; lane < lanes(); ++lane)
      if (tape_.in.lane_fresh(lane)) tape_.set_lane(start, kPanels * units(), lane, nullptr);
  }
  /// The same for the backward direction, which starts with zero at the last step.
  void begin_backward() const {
    const State last = state(tape_.in.steps - 1);
    for (T* panel : last.panel) std::fill_n(panel, tape_.panel(units()), T(0));
  }

  /// Sets the state of step k, and its gates if kTrain.
  template <bool kTrain>
  void forward(int k) const {
    const State old = state(before(k)), now = state(k);
    Cell::template forward<kTrain>(
        weights_, sweep_.input_at(k), old, lanes(), now,
        kTrain ? gates(k) : tape_.ws.encoder.data() + tape_.panel(kPanels * units()));
    for (int lane = 0; lane < lanes() && sweep_.exceptional(k); ++lane) {
      if (!sweep_.holds(k, lane) && !sweep_.starts(k, lane)) continue;
      for (int i = 0; i < kPanels; ++i)
        tape_.set_lane(now.panel[i], units(), lane, sweep_.holds(k, lane) ? old.panel[i] : nullptr);
    }
  }

  /// Leaves the state after the window in the carry.
  void end(T* carry) const {
    const State last = state(tape_.in.steps - 1);
    for (int i = 0; i < kPanels; ++i)
      std::copy_n(last.panel[i], tape_.panel(units()), carry + tape_.panel(i * units()));
  }

  /// Clears what the tape holds of a lane beside the records.
  void clear_lane(int lane) const {
    tape_.set_lane(tape_.ws.encoder.data(), kPanels * units(), lane, nullptr);
  }

  /// From the adjoint of the state after step k (ws.d_hidden_state) to that before it, and to the
  /// gates. That of a lane past its end is zero: the loss has nothing after it.
  void backward(int k) const {
    const State d = d_state();
    for (int lane = 0; lane < lanes() && sweep_.exceptional(k); ++lane)
      for (int i = 0; i < kPanels && sweep_.starts(k, lane); ++i)
        tape_.set_lane(d.panel[i], units(), lane, nullptr);
    Cell::backward(weights_, state(before(k)), state(k), lanes(), gates(k), d);
  }

  /// Clears the running adjoint of the state, but for that of h, which the caller adds to.
  void begin_adjoint() const {
    for (int i = 1; i < kPanels; ++i) std::fill_n(d_state().panel[i], tape_.panel(units()), T(0));
  }
  /// Sets ws.d_h, the adjoint of the carried state.
  void end_adjoint() const {
    for (int i = 0; i < kPanels; ++i)
      std::copy_n(d_state().panel[i], tape_.panel(units()),
                  tape_.ws.d_h.data() + tape_.panel(i * units()));
  }

  /// h before step `begin` of the forward direction, transposed to the head of h_T.
  void transpose_before(int begin, const Transposed& h_T) const {
    tape_.put_transposed(state(begin - 1).panel[0], units(), h_T, 0);
  }
  /// Weight gradients of the steps begin..end-1; h_T holds the transposed h before each step.
  void gradients(int begin, int end, const Transposed& h_T) const {
    Cell::gradients(tape_, layout_, {gates(begin), tape_.step}, h_T,
                    {sweep_.input_at(begin), sweep_.panel}, end - begin);
  }
  /// The same for the backward direction, where h[k+1] is what came before step k.
  void gradients_backward(int begin, int end) const {
    const Transposed h_T = tape_.transposed_place(units());
    for (int k = begin; k < end; ++k)
      tape_.put_transposed(state(k + 1).panel[0], units(), h_T, k - begin);
    gradients(begin, end, h_T);
  }
  void collect() const { Cell::collect(tape_, layout_); }

 private:
  int units() const { return tape_.units; }
  int lanes() const { return tape_.in.lanes; }
  int before(int k) const { return sweep_.backward ? k + 1 : k - 1; }

  // On a record the panels of both directions alternate, so that the decoder finds h of both
  // together; before the window (k = -1) there is one direction.
  State state(int k) const {
    const int directions = tape_.layout.directions();
    State s;
    for (int i = 0; i < kPanels; ++i)
      s.panel[i] =
          k < 0 ? tape_.ws.encoder.data() + tape_.panel(i * units())
                : tape_.at(k) + tape_.panel(tape_.rows.h + (i * directions + direction_) * units());
    return s;
  }
  // The running adjoint: h of both directions first, since the decoder's adjoint adds to them.
  State d_state() const {
    State s;
    for (int i = 0; i < kPanels; ++i)
      s.panel[i] = tape_.ws.d_hidden_state.data() +
                   tape_.panel(i == 0 ? 0 : (tape_.layout.directions() + i - 1) * units());
    return s;
  }
  T* gates(int k) const {
    return tape_.at(k) + tape_.panel(tape_.rows.gates + direction_ * 4 * units());
  }

  const Tape<T>& tape_;
  const Sweep<T> sweep_;
  const typename Cell::Packed& weights_;
  const typename Cell::Layout& layout_;
  const int direction_;
};

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
