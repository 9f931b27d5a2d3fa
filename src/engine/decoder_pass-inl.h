// The decoder over a window: the same whatever encoder it reads, and compiled once
// (decoder_pass.cpp).

#if defined(KALMIA_ENGINE_DECODER_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_DECODER_PASS_INL_H_
#undef KALMIA_ENGINE_DECODER_PASS_INL_H_
#else
#define KALMIA_ENGINE_DECODER_PASS_INL_H_
#endif

#include "engine/tape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

template <typename T>
struct DecoderPass {
  using Transposed = typename Tape<T>::Transposed;

  const Tape<T>& tape;

  /// From h to the output rows of a record.
  void forward(T* record) const;
  /// Adds the decoder's share of step k to ws.d_hidden_state and leaves the adjoints of its layers
  /// in the chunk, which begins at step `chunk_begin`.
  void backward(int k, int chunk_begin) const;
  /// Adds the weight gradients of the steps begin..end-1 to the sums. h_T holds the transposed h of
  /// the step before `begin` and of these steps.
  void gradients(int begin, int end, const Transposed& h_T) const;
  /// Adds the sums to ws.gradient and clears them.
  void collect() const;
};

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
