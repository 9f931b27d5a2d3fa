// Elementary functions on lines, with the derivatives the networks need.
//
// Float versions are ours: a GRU step spends a fifth of its time here, and the bound that matters
// is absolute (outputs in [0, 1] or [-1, 1]), which costs half the instructions of the last-bit
// accurate versions in hwy/contrib/math. Double versions, used by derivative tests, are Highway's.
// A NaN lane stays NaN; infinities give the limits.

#if defined(KALMIA_LANES_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_LANES_MATH_INL_H_
#undef KALMIA_LANES_MATH_INL_H_
#else
#define KALMIA_LANES_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "lanes/line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

namespace detail {

// e^x for |x| <= 87: x = n ln 2 + r, a polynomial of degree 5 in r (relative minimax on
// |r| <= ln(2)/2, error 7.6e-8), and n added to the exponent bits. Adding 1.5 * 2^23 rounds to the
// nearest integer and leaves that integer in the low bits, so no conversion is needed.
// n ln 2 is subtracted in two parts, so that the relative error stays small for large n too.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_bounded(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 12582912.0f);
  const V t = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(t, magic);
  const V r =
      hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  V p = hn::Set(d, 0.008297619466432657f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.04191562925058417f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.16667576541807563f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.499988926611925f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.9999996910699432f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0000000718663848f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, t));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

// x limited to [-bound, bound]; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V bounded(D d, V x, hn::TFromD<D> bound) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_STATIC_TARGET
  // x86's minimum and maximum return their second operand when either is NaN.
  return hn::Max(hn::Set(d, -bound), hn::Min(hn::Set(d, bound), x));
#else
  const V limit = hn::Set(d, bound);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), limit), hn::CopySign(limit, x), x);
#endif
}

// 1/a for 1 <= a <= 2^60: the machine's estimate and one Newton step.
// Max error: 4e-7 relative (12-bit estimates), 1e-7 with AVX-512.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal(D d, V a) {
  const V estimate = hn::ApproximateReciprocal(a);
  return hn::Mul(estimate, hn::NegMulAdd(a, estimate, hn::Set(d, 2.0f)));
}

// Highway's e^x turns a NaN into 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_double(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// 1 / (1 + e^(-scale x)), scale 1 or 2. In float the sign and the scale cost nothing: they are in
// the constants, and in the odd coefficients of the polynomial, which is taken at -r.
template <int kScale, class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  if constexpr (sizeof(T) == 4) {
    const hn::RebindToSigned<D> di;
    const V y = bounded(d, x, 40.0f / kScale);
    const V magic = hn::Set(d, 12582912.0f);
    const V t = hn::NegMulAdd(y, hn::Set(d, kScale * 1.44269504f), magic);
    const V minus_r =
        hn::MulAdd(hn::Sub(t, magic), hn::Set(d, 0.69314718056f), kScale == 1 ? y : hn::Add(y, y));
    V p = hn::Set(d, -0.008297619466432657f);
    p = hn::MulAdd(p, minus_r, hn::Set(d, 0.04191562925058417f));
    p = hn::MulAdd(p, minus_r, hn::Set(d, -0.16667576541807563f));
    p = hn::MulAdd(p, minus_r, hn::Set(d, 0.499988926611925f));
    p = hn::MulAdd(p, minus_r, hn::Set(d, -0.9999996910699432f));
    p = hn::MulAdd(p, minus_r, hn::Set(d, 1.0000000718663848f));
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, t));
    const V e = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
    return reciprocal(d, hn::Add(one, e));
  } else {
    const V y = hn::Mul(x, hn::Set(d, T(-kScale)));
    return hn::Div(one, hn::Add(one, exp_of_double(d, bounded(d, y, 700.0))));
  }
}

}  // namespace detail

// Applies `function(tag, register)` to each register of a line.
#define KALMIA_LINE_FUNCTION(function, x)                                               \
  Line<T> out;                                                                          \
  for (int i = 0; i < Line<T>::kVecs; ++i) out.v[i] = function(LineTag<T>(), (x).v[i]); \
  return out

/// 1 / (1 + e^-x). Max error: 2e-7 absolute in float (4e-7 where the machine's reciprocal estimate
/// has 12 bits), 4e-16 in double. Derivative: s (1 - s).
template <typename T>
HWY_INLINE Line<T> sigmoid(const Line<T>& x) {
  KALMIA_LINE_FUNCTION(detail::sigmoid<1>, x);
}

/// tanh x = 2 sigmoid(2x) - 1. Max error: 4e-7 (8e-7) absolute in float, 8e-16 in double.
/// Derivative: 1 - t^2.
template <typename T>
HWY_INLINE Line<T> tanh(const Line<T>& x) {
  Line<T> out;
  const LineTag<T> d;
  for (int i = 0; i < Line<T>::kVecs; ++i)
    out.v[i] = hn::MulSub(detail::sigmoid<2>(d, x.v[i]), hn::Set(d, T(2)), hn::Set(d, T(1)));
  return out;
}

/// e^x. Max error: 3e-7 relative in float for |x| <= 87 (beyond it the value at 87), 4 ulp in
/// double.
template <typename T>
HWY_INLINE Line<T> exp(const Line<T>& x) {
  if constexpr (sizeof(T) == 4) {
    Line<T> out;
    for (int i = 0; i < Line<T>::kVecs; ++i)
      out.v[i] = detail::exp_bounded(LineTag<T>(), detail::bounded(LineTag<T>(), x.v[i], 87.0f));
    return out;
  } else {
    KALMIA_LINE_FUNCTION(detail::exp_of_double, x);
  }
}

/// Natural logarithm of x > 0. Max error: 4 ulp.
template <typename T>
HWY_INLINE Line<T> log(const Line<T>& x) {
  KALMIA_LINE_FUNCTION(hn::Log, x);
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|). Max error: 4e-7 relative in float, 2e-15 in double.
/// Derivative: sigmoid(x).
template <typename T>
HWY_INLINE Line<T> softplus(const Line<T>& x) {
  Line<T> out;
  const Line<T> e = exp(-abs(x));
  const LineTag<T> d;
  for (int i = 0; i < Line<T>::kVecs; ++i) {
    // A NaN must survive, so max(x, 0) is written as a choice that keeps it.
    const auto positive = hn::IfThenElse(hn::Lt(x.v[i], hn::Zero(d)), hn::Zero(d), x.v[i]);
    out.v[i] = hn::Add(positive, hn::Log1p(d, e.v[i]));
  }
  return out;
}
#undef KALMIA_LINE_FUNCTION

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
