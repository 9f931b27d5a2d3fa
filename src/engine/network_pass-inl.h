// The networks' part of a window: an encoder (one or both directions) and the decoder, forward and
// backward, on the tape of records.hpp. Compiled once for each kind of encoder, apart from the
// heads.

#if defined(KALMIA_ENGINE_NETWORK_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_NETWORK_PASS_INL_H_
#undef KALMIA_ENGINE_NETWORK_PASS_INL_H_
#else
#define KALMIA_ENGINE_NETWORK_PASS_INL_H_
#endif

#include "engine/records.hpp"
#include "engine/window.hpp"
#include "lanes/line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines of this instruction set
using lanes::kLineLanes;

/// Holds no data of its own: views of the input and the workspace, whose `training` says whether a
/// tape is kept.
template <typename T>
struct NetworkPass {
  const NetworkLayout& layout;
  const PackedNetwork<T>& weights;
  const NetworkInput<T>& in;
  NetworkWorkspace<T>& ws;

  /// Takes the encoder's state before the window from the carry, and runs the backward direction if
  /// there is one.
  void begin_forward(const T* carry_h) const;
  /// Fills the records begin..end-1.
  void forward(int begin, int end) const;
  /// Leaves the encoder's state after the window in the carry.
  void end_forward(T* carry_h) const;

  /// Clears lanes that failed on the whole tape: with zero adjoints they then add exactly nothing
  /// to the weight gradients, where a NaN times zero would be a NaN.
  void clear_failed_lanes() const;

  /// From the adjoints in out and positive of the records begin..end-1 to those of the encoder's
  /// gates, last steps first. `chunk_begin` is the first step of the chunk whose weight gradients
  /// come next.
  void backward(int begin, int end, int chunk_begin) const;
  /// Adds the weight gradients of the steps begin..end-1 to ws.sums.
  void gradients(int begin, int end) const;
  /// Sets ws.d_h, goes back through the other direction if there is one, adds ws.sums to
  /// ws.gradient and clears them.
  void end_backward() const;
};

/// The same for one kind of encoder.
template <typename T>
struct PassKernels {
  void (*begin_forward)(const NetworkPass<T>&, const T* carry_h);
  void (*forward)(const NetworkPass<T>&, int begin, int end);
  void (*end_forward)(const NetworkPass<T>&, T* carry_h);
  void (*clear_failed_lanes)(const NetworkPass<T>&);
  void (*backward)(const NetworkPass<T>&, int begin, int end, int chunk_begin);
  void (*gradients)(const NetworkPass<T>&, int begin, int end);
  void (*end_backward)(const NetworkPass<T>&);
};

/// Those of the encoder of a layout. Defined by KALMIA_ENCODER_PASS (encoder_decoder-inl.h) in the
/// source of each kind.
template <typename T, typename Layout>
const PassKernels<T>& pass_kernels();

extern template struct NetworkPass<float>;
extern template struct NetworkPass<double>;

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
