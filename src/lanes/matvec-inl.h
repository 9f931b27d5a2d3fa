// Products of a ColumnMatrix with one vector.

#if defined(KALMIA_LANES_MATVEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_MATVEC_INL_H_
#undef KALMIA_LANES_MATVEC_INL_H_
#else
#define KALMIA_LANES_MATVEC_INL_H_
#endif

#include "lanes/dense.hpp"
#include "lanes/line-inl.h"
#include "lanes/matvec.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

// Lines of the result kept in registers at a time.
inline constexpr int kMatvecLines = Line<float>::kVecs == 1 ? 12 : Line<float>::kVecs == 2 ? 6 : 3;

// Few lines would leave the pipeline empty, so the columns are then summed in several chains.
template <int Lines, typename T>
HWY_INLINE void matvec_lines(const T* HWY_RESTRICT W, int stride, int cols, const T* HWY_RESTRICT x,
                             const T* HWY_RESTRICT start, T* HWY_RESTRICT out) {
  constexpr int kChains = Lines >= 6 ? 1 : Lines >= 3 ? 2 : 4;
  Line<T> sum[kChains][Lines];
  for (int l = 0; l < Lines; ++l) {
    sum[0][l] = load(start + l * kLineLanes<T>);
    for (int c = 1; c < kChains; ++c) sum[c][l] = zero<T>();
  }
  int k = 0;
  for (; k + kChains <= cols; k += kChains)
    for (int c = 0; c < kChains; ++c) {
      const Line<T> xk = broadcast(x[k + c]);
      for (int l = 0; l < Lines; ++l)
        sum[c][l] = fma(xk, load(W + (k + c) * stride + l * kLineLanes<T>), sum[c][l]);
    }
  for (; k < cols; ++k) {
    const Line<T> xk = broadcast(x[k]);
    for (int l = 0; l < Lines; ++l)
      sum[0][l] = fma(xk, load(W + k * stride + l * kLineLanes<T>), sum[0][l]);
  }
  for (int l = 0; l < Lines; ++l) {
    for (int c = 1; c < kChains; ++c) sum[0][l] = sum[0][l] + sum[c][l];
    store(sum[0][l], out + l * kLineLanes<T>);
  }
}

template <typename T, int Lines = kMatvecLines>
HWY_INLINE void matvec_block(int lines, const T* W, int stride, int cols, const T* x,
                             const T* start, T* out) {
  if constexpr (Lines > 0) {
    if (lines == Lines)
      matvec_lines<Lines>(W, stride, cols, x, start, out);
    else
      matvec_block<T, Lines - 1>(lines, W, stride, cols, x, start, out);
  }
}

/// out = start + W x. Shapes: x cols, start and out W.rows (padded). Cost: reads W once.
/// Not inlined: a stream calls it often, and each copy would be a dozen loops.
template <typename T>
HWY_NOINLINE void matvec(const ColumnMatrix<T>& W, const T* x, const T* start, T* out) {
  const EvenSplit split(W.rows / kLineLanes<T>, kMatvecLines);
  for (int block = 0; block < split.tiles; ++block) {
    const int at = split.begin(block) * kLineLanes<T>;
    matvec_block<T>(split.size(block), W.data.data() + at, W.rows, W.cols, x, start + at, out + at);
  }
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
