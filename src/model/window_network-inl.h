// The networks' part of a window: an encoder (one or both directions) and the decoder, forward and
// backward, on the tape of records.hpp. Compiled in window_network.cpp, apart from the recursion.

#if defined(KALMIA_MODEL_WINDOW_NETWORK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#undef KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#else
#define KALMIA_MODEL_WINDOW_NETWORK_INL_H_
#endif

#include "lanes/line-inl.h"
#include "model/records.hpp"
#include "model/window.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines of this instruction set
using lanes::kLineLanes;

// Steps of a lane in this window.
template <typename T>
HWY_INLINE int lane_length(const WindowInput<T>& in, int lane) {
  return in.length == nullptr ? in.steps : in.length[lane];
}
template <typename T>
HWY_INLINE bool lane_fresh(const WindowInput<T>& in, int lane) {
  return in.fresh == nullptr || in.fresh[lane] != 0;
}

/// Holds no data of its own: views of the input and the workspace, whose `training` says whether a
/// tape is kept.
template <typename T>
struct NetworkPass {
  const WindowModel<T>& model;
  const WindowInput<T>& in;
  Workspace<T>& ws;

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

  /// From the adjoints in out and diag of the records begin..end-1 to those of the encoder's gates,
  /// last steps first. `chunk_begin` is the first step of the chunk whose weight gradients come
  /// next.
  void backward(int begin, int end, int chunk_begin) const;
  /// Adds the weight gradients of the steps begin..end-1 to ws.sums.
  void gradients(int begin, int end) const;
  /// backward and gradients over all steps, where the adjoints of all are there, and end_backward.
  void whole_backward() const {
    for (int end = in.steps; end > 0;) {
      const int begin = (end - 1) / kChunkSteps * kChunkSteps;
      backward(begin, end, begin);
      gradients(begin, end);
      end = begin;
    }
    end_backward();
  }
  /// Sets ws.d_h, goes back through the other direction if there is one, adds ws.sums to
  /// ws.gradient and clears them.
  void end_backward() const;
};

extern template struct NetworkPass<float>;
extern template struct NetworkPass<double>;

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
