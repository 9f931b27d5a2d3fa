// The rows of a diagonal covariance, for one line of lanes.

#if defined(KALMIA_HEADS_DIAGONAL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_DIAGONAL_ROWS_INL_H_
#undef KALMIA_HEADS_DIAGONAL_ROWS_INL_H_
#else
#define KALMIA_HEADS_DIAGONAL_ROWS_INL_H_
#endif

#include "heads/state_line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

/// L = diag(s): N rows, all positive. As TriangleRows (direct_transition-inl.h).
template <typename T>
struct DiagonalRows {
  static constexpr int kLanes = kLineLanes<double>;

  static void read(const Architecture& arch, const T*, const T* positive, std::ptrdiff_t row,
                   double* L) {
    for (int i = 0; i < arch.state_dim(); ++i) {
      for (int j = 0; j < i; ++j) store(zero<double>(), L + lanes::triangle_index(i, j) * kLanes);
      store(load_as<double>(positive + i * row), L + lanes::triangle_index(i, i) * kLanes);
    }
  }
  static void write(const Architecture& arch, const LineMask<double>& lane_ok, const double* d_L,
                    T*, T* positive, std::ptrdiff_t row) {
    for (int i = 0; i < arch.state_dim(); ++i)
      store_as(select(lane_ok, load(d_L + lanes::triangle_index(i, i) * kLanes), zero<double>()),
               positive + i * row);
  }
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
