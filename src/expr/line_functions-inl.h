// Elementary functions of expressions on lines of doubles, with the accuracy and the special values
// of the standard library: lanes are what users' formulas compute with, in ranges nobody knows.
// Highway's versions where their range allows, the standard library lane by lane elsewhere.

#if defined(KALMIA_EXPR_LINE_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_EXPR_LINE_FUNCTIONS_INL_H_
#undef KALMIA_EXPR_LINE_FUNCTIONS_INL_H_
#else
#define KALMIA_EXPR_LINE_FUNCTIONS_INL_H_
#endif

#include <limits>

#include "expr/op.hpp"
#include "lanes/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::expr::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

using Line = ln::Line<double>;
using Tag = Line::Tag;
using Vec = Line::Vec;

/// The standard library's value, lane by lane, of any operation.
inline HWY_NOINLINE void by_lane(Op op, const double* a, const double* b, double* to) {
  for (int i = 0; i < lanes::kLineLanes<double>; ++i) to[i] = value_of(op, a[i], b[i]);
}

// Applies `function` of a register to each register of a line.
template <typename F>
HWY_INLINE Line each(const Line& a, F function) {
  Line out;
  for (int i = 0; i < Line::kVecs; ++i) out.v[i] = function(a.v[i]);
  return out;
}
template <typename F>
HWY_INLINE Line each(const Line& a, const Line& b, F function) {
  Line out;
  for (int i = 0; i < Line::kVecs; ++i) out.v[i] = function(a.v[i], b.v[i]);
  return out;
}

/// Whether |a| <= bound or NaN in all lanes.
HWY_INLINE bool all_within(const Line& a, double bound) {
  bool within = true;
  for (int i = 0; i < Line::kVecs; ++i)
    within = within && hn::AllFalse(Tag(), hn::Gt(hn::Abs(a.v[i]), hn::Set(Tag(), bound)));
  return within;
}

/// Range in which Highway reduces the argument of sine and cosine well.
inline constexpr double kLargestAngle = 39000;

/// Max error: 3 ulp for |a| <= 39000, the standard library's beyond.
inline HWY_NOINLINE void sin_line(const double* a, double* to) {
  const Line x = ln::load(a);
  if (!all_within(x, kLargestAngle)) return by_lane(Op::Sin, a, a, to);
  ln::store(each(x, [](Vec v) HWY_ATTR { return hn::Sin(Tag(), v); }), to);
}
/// Max error: as sin_line.
inline HWY_NOINLINE void cos_line(const double* a, double* to) {
  const Line x = ln::load(a);
  if (!all_within(x, kLargestAngle)) return by_lane(Op::Cos, a, a, to);
  ln::store(each(x, [](Vec v) HWY_ATTR { return hn::Cos(Tag(), v); }), to);
}

/// Max error: 2 ulp. Highway's loses a NaN and is undefined for huge arguments, so these are kept
/// out; at +-1000 the result is already infinite or 0.
inline HWY_NOINLINE void exp_line(const double* a, double* to) {
  ln::store(each(ln::load(a),
                 [](Vec v) HWY_ATTR {
                   const Vec limit = hn::Set(Tag(), 1000.0);
                   const Vec bounded =
                       hn::IfThenElse(hn::Gt(hn::Abs(v), limit), hn::CopySign(limit, v), v);
                   return hn::IfThenElse(hn::IsNaN(v), v, hn::Exp(Tag(), bounded));
                 }),
            to);
}

/// Max error: 4 ulp. log 0 = -infinity, of a negative number NaN.
inline HWY_NOINLINE void log_line(const double* a, double* to) {
  ln::store(each(ln::load(a),
                 [](Vec v) HWY_ATTR {
                   constexpr double kInf = std::numeric_limits<double>::infinity();
                   const Vec zero = hn::Zero(Tag());
                   Vec out = hn::Log(Tag(), v);
                   // What is not below infinity, infinity and NaN, is its own logarithm.
                   out = hn::IfThenElse(hn::Lt(v, hn::Set(Tag(), kInf)), out, v);
                   out = hn::IfThenElse(hn::Eq(v, zero), hn::Set(Tag(), -kInf), out);
                   return hn::IfThenElse(hn::Lt(v, zero), hn::NaN(Tag()), out);
                 }),
            to);
}

/// Max error: 4 ulp.
inline HWY_NOINLINE void tanh_line(const double* a, double* to) {
  ln::store(each(ln::load(a), [](Vec v) HWY_ATTR { return hn::Tanh(Tag(), v); }), to);
}
/// Max error: 3 ulp. NaN outside [-1, 1].
inline HWY_NOINLINE void asin_line(const double* a, double* to) {
  ln::store(each(ln::load(a), [](Vec v) HWY_ATTR { return hn::Asin(Tag(), v); }), to);
}
/// Max error: 2 ulp. NaN outside [-1, 1].
inline HWY_NOINLINE void acos_line(const double* a, double* to) {
  ln::store(each(ln::load(a), [](Vec v) HWY_ATTR { return hn::Acos(Tag(), v); }), to);
}
/// Max error: 3 ulp.
inline HWY_NOINLINE void atan_line(const double* a, double* to) {
  ln::store(each(ln::load(a), [](Vec v) HWY_ATTR { return hn::Atan(Tag(), v); }), to);
}
/// Max error: 4e-16.
inline HWY_NOINLINE void sigmoid_line(const double* a, double* to) {
  ln::store(ln::sigmoid(ln::load(a)), to);
}
/// Max error: 2e-15 relative.
inline HWY_NOINLINE void softplus_line(const double* a, double* to) {
  ln::store(ln::softplus(ln::load(a)), to);
}

HWY_INLINE Line sign_of(const Line& a) {
  return each(a, [](Vec v) HWY_ATTR {
    const Vec zero = hn::Zero(Tag());
    // 0 and NaN stay.
    const Vec one = hn::CopySign(hn::Set(Tag(), 1.0), v);
    return hn::IfThenElse(hn::Gt(hn::Abs(v), zero), one, v);
  });
}
// The first at a tie; NaN if either is.
HWY_INLINE Line min_of(const Line& a, const Line& b) {
  return each(a, b, [](Vec u, Vec v) HWY_ATTR {
    return hn::IfThenElse(hn::Or(hn::Lt(v, u), hn::IsNaN(v)), v, u);
  });
}
HWY_INLINE Line max_of(const Line& a, const Line& b) {
  return each(a, b, [](Vec u, Vec v) HWY_ATTR {
    return hn::IfThenElse(hn::Or(hn::Gt(v, u), hn::IsNaN(v)), v, u);
  });
}
HWY_INLINE Line less(const Line& a, const Line& b) {
  return each(a, b, [](Vec u, Vec v) HWY_ATTR {
    return hn::IfThenElseZero(hn::Lt(u, v), hn::Set(Tag(), 1.0));
  });
}
HWY_INLINE Line gate(const Line& a, const Line& b) {
  return each(a, b, [](Vec u, Vec v) HWY_ATTR {
    return hn::IfThenZeroElse(hn::Eq(u, hn::Zero(Tag())), v);
  });
}

}  // namespace kalmia::expr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
