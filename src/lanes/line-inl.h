// A line of lanes: 64 bytes of independent numbers, 16 floats or 8 doubles, that go through
// the same arithmetic. It is one register with AVX-512, two with AVX2, four with 128 bits; code
// written on lines does not see the difference. All lane kernels are built on this file. Beside it,
// math-inl.h, cholesky-inl.h, dense-inl.h and expr/line_functions-inl.h call Highway directly.
//
// Included once per instruction set (see hwy/foreach_target.h); all names live in a namespace
// of that instruction set, so that no template can be shared between two of them.

#if defined(KALMIA_LANES_LINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_LINE_INL_H_
#undef KALMIA_LANES_LINE_INL_H_
#else
#define KALMIA_LANES_LINE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "lanes/panel.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using LineTag = hn::CappedTag<T, kLineLanes<T>>;

/// `kLineLanes<T>` lanes of T.
template <typename T>
struct Line {
  using Tag = LineTag<T>;
  using Vec = hn::Vec<Tag>;
  static constexpr int kVecLanes = static_cast<int>(hn::MaxLanes(Tag()));
  static constexpr int kVecs = kLineLanes<T> / kVecLanes;
  Vec v[kVecs];
};

/// One truth value per lane of a `Line<T>`.
template <typename T>
struct LineMask {
  hn::Mask<LineTag<T>> m[Line<T>::kVecs];
};

// Applies `expr`, which may use the register index i, to each register of a line.
#define KALMIA_EACH(expr)                                     \
  Line<T> out;                                                \
  HWY_UNROLL(4)                                               \
  for (int i = 0; i < Line<T>::kVecs; ++i) out.v[i] = (expr); \
  return out

template <typename T>
HWY_INLINE Line<T> load(const T* HWY_RESTRICT p) {
  KALMIA_EACH(hn::Load(LineTag<T>(), p + i * Line<T>::kVecLanes));
}
template <typename T>
HWY_INLINE void store(const Line<T>& a, T* HWY_RESTRICT p) {
  for (int i = 0; i < Line<T>::kVecs; ++i)
    hn::Store(a.v[i], LineTag<T>(), p + i * Line<T>::kVecLanes);
}
template <typename T>
HWY_INLINE Line<T> broadcast(T value) {
  KALMIA_EACH(hn::Set(LineTag<T>(), value));
}
template <typename T>
HWY_INLINE Line<T> zero() {
  KALMIA_EACH(hn::Zero(LineTag<T>()));
}
template <typename T>
HWY_INLINE Line<T> operator+(const Line<T>& a, const Line<T>& b) {
  KALMIA_EACH(hn::Add(a.v[i], b.v[i]));
}
template <typename T>
HWY_INLINE Line<T> operator-(const Line<T>& a, const Line<T>& b) {
  KALMIA_EACH(hn::Sub(a.v[i], b.v[i]));
}
template <typename T>
HWY_INLINE Line<T> operator*(const Line<T>& a, const Line<T>& b) {
  KALMIA_EACH(hn::Mul(a.v[i], b.v[i]));
}
template <typename T>
HWY_INLINE Line<T> operator/(const Line<T>& a, const Line<T>& b) {
  KALMIA_EACH(hn::Div(a.v[i], b.v[i]));
}
template <typename T>
HWY_INLINE Line<T> operator-(const Line<T>& a) {
  KALMIA_EACH(hn::Neg(a.v[i]));
}
/// a b + c
template <typename T>
HWY_INLINE Line<T> fma(const Line<T>& a, const Line<T>& b, const Line<T>& c) {
  KALMIA_EACH(hn::MulAdd(a.v[i], b.v[i], c.v[i]));
}
/// c - a b
template <typename T>
HWY_INLINE Line<T> fnma(const Line<T>& a, const Line<T>& b, const Line<T>& c) {
  KALMIA_EACH(hn::NegMulAdd(a.v[i], b.v[i], c.v[i]));
}
template <typename T>
HWY_INLINE Line<T> sqrt(const Line<T>& a) {
  KALMIA_EACH(hn::Sqrt(a.v[i]));
}
template <typename T>
HWY_INLINE Line<T> abs(const Line<T>& a) {
  KALMIA_EACH(hn::Abs(a.v[i]));
}
/// max(a, 0); a NaN stays (Highway's ZeroIfNegative looks at the sign bit, which a NaN may have).
template <typename T>
HWY_INLINE Line<T> zero_if_negative(const Line<T>& a) {
  KALMIA_EACH(hn::IfThenZeroElse(hn::Lt(a.v[i], hn::Zero(LineTag<T>())), a.v[i]));
}
/// a where the lane's mask is set, b elsewhere.
template <typename T>
HWY_INLINE Line<T> select(const LineMask<T>& mask, const Line<T>& a, const Line<T>& b) {
  KALMIA_EACH(hn::IfThenElse(mask.m[i], a.v[i], b.v[i]));
}
#undef KALMIA_EACH

/// a > b; false where either is NaN.
template <typename T>
HWY_INLINE LineMask<T> greater(const Line<T>& a, const Line<T>& b) {
  LineMask<T> out;
  for (int i = 0; i < Line<T>::kVecs; ++i) out.m[i] = hn::Gt(a.v[i], b.v[i]);
  return out;
}
/// a != 0, for lines of flags stored as numbers.
template <typename T>
HWY_INLINE LineMask<T> nonzero(const Line<T>& a) {
  LineMask<T> out;
  for (int i = 0; i < Line<T>::kVecs; ++i) out.m[i] = hn::Ne(a.v[i], hn::Zero(LineTag<T>()));
  return out;
}
/// Bit b is set where lane b's mask is set.
template <typename T>
HWY_INLINE LaneBits bits_of(const LineMask<T>& mask) {
  LaneBits bits = 0;
  for (int i = 0; i < Line<T>::kVecs; ++i) {
    alignas(8) uint8_t bytes[8] = {};
    hn::StoreMaskBits(LineTag<T>(), mask.m[i], bytes);
    bits |= static_cast<LaneBits>(bytes[0] | (bytes[1] << 8)) << (i * Line<T>::kVecLanes);
  }
  return bits;
}
/// Sum over the lanes, always in the same order.
template <typename T>
HWY_INLINE T sum_lanes(const Line<T>& a) {
  hn::Vec<LineTag<T>> sum = a.v[0];
  for (int i = 1; i < Line<T>::kVecs; ++i) sum = hn::Add(sum, a.v[i]);
  return hn::GetLane(hn::SumOfLanes(LineTag<T>(), sum));
}

/// Loads `kLineLanes<To>` lanes of From and converts them. Between float and double a line
/// of doubles is half a line of floats.
template <typename To, typename From>
HWY_INLINE Line<To> load_as(const From* HWY_RESTRICT p) {
  if constexpr (sizeof(To) == sizeof(From)) {
    return load(p);
  } else {
    static_assert(sizeof(To) == 8 && sizeof(From) == 4);
    Line<To> out;
    const hn::Rebind<From, LineTag<To>> half;
    for (int i = 0; i < Line<To>::kVecs; ++i)
      out.v[i] = hn::PromoteTo(LineTag<To>(), hn::Load(half, p + i * Line<To>::kVecLanes));
    return out;
  }
}
/// Converts a line to `To` and stores its lanes.
template <typename To, typename From>
HWY_INLINE void store_as(const Line<From>& a, To* HWY_RESTRICT p) {
  if constexpr (sizeof(To) == sizeof(From)) {
    store(a, p);
  } else {
    static_assert(sizeof(To) == 4 && sizeof(From) == 8);
    const hn::Rebind<To, LineTag<From>> half;
    for (int i = 0; i < Line<From>::kVecs; ++i)
      hn::Store(hn::DemoteTo(half, a.v[i]), half, p + i * Line<From>::kVecLanes);
  }
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
