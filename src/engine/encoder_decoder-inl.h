// An encoder of any kind and the decoder over a window, forward and backward. Compiled once for
// each kind, in a source of its own (gru_encoder.cpp and so on).
//
// A sweep is one direction of an encoder over a window:
//
//   Sweep(tape, backward)
//   begin(carry)                   takes the state before the window
//   begin_backward()               the same for the backward direction: there is none, and h of the
//                                  last step is zero
//   forward<kTrain>(k)             sets h[k], in the order of the sweep
//   end(carry)                     leaves the state after the window
//   clear_lane(lane)               clears what it keeps of a lane beside the records
//   begin_adjoint()                before the adjoint of the last step of the sweep
//   backward(k)                    from the adjoint of h[k] in ws.d_hidden_state, which others
//                                  add to, to those of its sums; the sweep's last step is first
//   end_adjoint()                  sets ws.d_h, the adjoint of the carried state
//   transpose_before(k, h_T)       h before step k, where weights meet it
//   gradients(begin, end, h_T)     adds the weight gradients of a chunk of steps, whose backward
//                                  was last; h_T holds the transposed h before each step
//   gradients_backward(begin, end) the same for the backward direction
//   collect()                      adds the sums to ws.gradient

#if defined(KALMIA_ENGINE_ENCODER_DECODER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_ENCODER_DECODER_INL_H_
#undef KALMIA_ENGINE_ENCODER_DECODER_INL_H_
#else
#define KALMIA_ENGINE_ENCODER_DECODER_INL_H_
#endif

#include <algorithm>

#include "engine/decoder_pass-inl.h"
#include "engine/network_pass-inl.h"
#include "engine/tape-inl.h"

HWY_BEFORE_NAMESPACE();
// Each source adds its encoder's arithmetic.
namespace kalmia::nn::HWY_NAMESPACE {}  // namespace kalmia::nn::HWY_NAMESPACE
namespace kalmia::engine::HWY_NAMESPACE {

using namespace nn::HWY_NAMESPACE;  // NOLINT: networks of this instruction set

/// The pass over a window, for one kind of encoder. Holds no data of its own: views of the input
/// and the workspace.
template <typename T, typename Encoder>
class EncoderDecoder {
  using Transposed = typename Tape<T>::Transposed;

 public:
  explicit EncoderDecoder(const Tape<T>& tape)
      : tape_(tape), layout_(tape.layout), rows_(tape.rows), decoder_{tape}, fwd_(tape, false) {}

  template <bool kTrain>
  void begin_forward(const T* carry_h) const {
    if (layout_.networks.two_sided) {
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
      decoder_.forward(tape_.at(k));
    }
  }
  void end_forward(T* carry_h) const { fwd_.end(carry_h); }

  void clear_failed_lanes() const {
    for (int lane = 0; lane < lanes(); ++lane) {
      if (tape_.ws.lane_ok[static_cast<std::size_t>(lane)] != 0) continue;
      fwd_.clear_lane(lane);
      if (layout_.networks.two_sided) Encoder(tape_, true).clear_lane(lane);
      for (int k = 0; k < steps(); ++k) tape_.set_lane(tape_.at(k), rows_.total, lane, nullptr);
    }
  }

  void backward(int begin, int end, int chunk_begin) const {
    if (end == steps()) {
      std::fill_n(d_h(), panel(layout_.directions() * units()), T(0));
      fwd_.begin_adjoint();
    }
    for (int k = end - 1; k >= begin; --k) {
      decoder_.backward(k, chunk_begin);
      fwd_.backward(k);
    }
  }
  void gradients(int begin, int end) const {
    // Transposed h of the steps begin-1..end-1: a recurrent encoder's weights meet h[k-1], the
    // decoder's h[k].
    const int features = layout_.directions() * units();
    const Transposed h_T = tape_.transposed_place(features);
    fwd_.transpose_before(begin, h_T);
    for (int k = begin; k < end; ++k)
      tape_.put_transposed(tape_.at(k) + panel(rows_.h), features, h_T, k - begin + 1);
    fwd_.gradients(begin, end, h_T);
    decoder_.gradients(begin, end, h_T);
  }
  void end_backward() const {
    fwd_.end_adjoint();
    if (layout_.networks.two_sided) backward_bwd_direction();
  }
  void collect_gradients() const {
    fwd_.collect();
    if (layout_.networks.two_sided) Encoder(tape_, true).collect();
    decoder_.collect();
  }

 private:
  int steps() const { return tape_.in.steps; }
  int lanes() const { return tape_.in.lanes; }
  int units() const { return tape_.units; }
  std::ptrdiff_t panel(int count) const { return tape_.panel(count); }
  T* d_h() const { return tape_.ws.d_hidden_state.data(); }

  void backward_bwd_direction() const {
    const Encoder bwd(tape_, true);
    std::fill_n(d_h(), panel(units()), T(0));
    bwd.begin_adjoint();
    for (int begin = 0; begin + 1 < steps(); begin += kChunkSteps) {
      const int end = std::min(steps() - 1, begin + kChunkSteps);
      for (int k = begin; k < end; ++k) {
        tape_.add(tape_.at(k) + panel(rows_.d_h_bwd), units(), d_h());
        bwd.backward(k);
      }
      bwd.gradients_backward(begin, end);
    }
  }

  const Tape<T>& tape_;
  const NetworkLayout& layout_;
  const RecordRows& rows_;
  const DecoderPass<T> decoder_;
  const Encoder fwd_;
};

/// The kernels of a pass whose encoder is swept by Sweep<T>.
template <typename T, template <typename> typename Sweep>
struct PassOf {
  using Pass = EncoderDecoder<T, Sweep<T>>;
  static Tape<T> tape(const NetworkPass<T>& of) {
    return Tape<T>(of.layout, of.weights, of.in, of.ws);
  }

  static void begin_forward(const NetworkPass<T>& of, const T* carry_h) {
    if (of.ws.training)
      Pass(tape(of)).template begin_forward<true>(carry_h);
    else
      Pass(tape(of)).template begin_forward<false>(carry_h);
  }
  static void forward(const NetworkPass<T>& of, int begin, int end) {
    if (of.ws.training)
      Pass(tape(of)).template forward<true>(begin, end);
    else
      Pass(tape(of)).template forward<false>(begin, end);
  }
  static void end_forward(const NetworkPass<T>& of, T* carry_h) {
    Pass(tape(of)).end_forward(carry_h);
  }
  static void clear_failed_lanes(const NetworkPass<T>& of) { Pass(tape(of)).clear_failed_lanes(); }
  static void backward(const NetworkPass<T>& of, int begin, int end, int chunk_begin) {
    Pass(tape(of)).backward(begin, end, chunk_begin);
  }
  static void gradients(const NetworkPass<T>& of, int begin, int end) {
    Pass(tape(of)).gradients(begin, end);
  }
  static void end_backward(const NetworkPass<T>& of) {
    const Tape<T> whole = tape(of);
    const Pass pass(whole);
    pass.end_backward();
    pass.collect_gradients();
  }
  static constexpr PassKernels<T> kKernels{&begin_forward,      &forward,  &end_forward,
                                           &clear_failed_lanes, &backward, &gradients,
                                           &end_backward};
};

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

/// Compiles the pass of the encoder of that layout, swept by Sweep<T>.
#define KALMIA_ENCODER_PASS(Layout, Sweep)                    \
  template <>                                                 \
  const PassKernels<float>& pass_kernels<float, Layout>() {   \
    return PassOf<float, Sweep>::kKernels;                    \
  }                                                           \
  template <>                                                 \
  const PassKernels<double>& pass_kernels<double, Layout>() { \
    return PassOf<double, Sweep>::kKernels;                   \
  }                                                           \
  static_assert(true)

#endif
