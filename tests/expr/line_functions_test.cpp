// Functions on lines against the standard library: stated error bounds, special values.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "expr/line_functions_test.cpp"
#include <hwy/foreach_target.h>

#include "expr/line_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::expr::HWY_NAMESPACE {

void apply_line(Op op, const double* a, const double* b, double* to) {
  switch (op) {
    case Op::Sin:
      return sin_line(a, to);
    case Op::Cos:
      return cos_line(a, to);
    case Op::Exp:
      return exp_line(a, to);
    case Op::Log:
      return log_line(a, to);
    case Op::Tanh:
      return tanh_line(a, to);
    case Op::Asin:
      return asin_line(a, to);
    case Op::Acos:
      return acos_line(a, to);
    case Op::Atan:
      return atan_line(a, to);
    case Op::Sigmoid:
      return sigmoid_line(a, to);
    case Op::Softplus:
      return softplus_line(a, to);
    case Op::Sign:
      return ln::store(sign_of(ln::load(a)), to);
    case Op::Min:
      return ln::store(min_of(ln::load(a), ln::load(b)), to);
    case Op::Max:
      return ln::store(max_of(ln::load(a), ln::load(b)), to);
    case Op::Less:
      return ln::store(less(ln::load(a), ln::load(b)), to);
    case Op::Gate:
      return ln::store(gate(ln::load(a), ln::load(b)), to);
    default:
      return by_lane(op, a, b, to);
  }
}

}  // namespace kalmia::expr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/isas.hpp"

namespace kalmia::expr {
HWY_EXPORT(apply_line);
void apply_best(Op op, const double* a, const double* b, double* to) {
  HWY_DYNAMIC_DISPATCH(apply_line)(op, a, b, to);
}
}  // namespace kalmia::expr

namespace kalmia::test {
namespace {

using expr::Op;
constexpr int kLanes = lanes::kLineLanes<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

long double exact(Op op, long double x) {
  switch (op) {
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Exp:
      return std::exp(x);
    case Op::Log:
      return std::log(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Asin:
      return std::asin(x);
    case Op::Acos:
      return std::acos(x);
    default:
      return std::atan(x);
  }
}

// Largest error over [low, high], in units of the last place of the exact value.
double worst_ulp(Op op, double low, double high) {
  constexpr int kPoints = 40000;
  double largest = 0;
  for (int i = 0; i < kPoints; i += kLanes) {
    alignas(64) double x[kLanes], y[kLanes];
    for (int b = 0; b < kLanes; ++b) x[b] = low + (high - low) * (i + b) / (kPoints - 1);
    expr::apply_best(op, x, x, y);
    for (int b = 0; b < kLanes; ++b) {
      const long double want = exact(op, static_cast<long double>(x[b]));
      const double rounded = std::abs(static_cast<double>(want));
      const double ulp = std::nextafter(rounded, kInf) - rounded;
      largest = std::max(largest, std::abs(static_cast<double>(y[b] - want)) / ulp);
    }
  }
  return largest;
}

// The bounds are those stated at the functions.
TEST(LineFunctions, StayWithinTheirErrorBounds) {
  for_each_isa([] {
    EXPECT_LE(worst_ulp(Op::Sin, -7, 7), 3);
    EXPECT_LE(worst_ulp(Op::Sin, -50000, 50000), 3);  // over the edge of Highway's range
    EXPECT_LE(worst_ulp(Op::Cos, -7, 7), 3);
    EXPECT_LE(worst_ulp(Op::Cos, -50000, 50000), 3);
    EXPECT_LE(worst_ulp(Op::Exp, -2, 2), 2);
    EXPECT_LE(worst_ulp(Op::Exp, -740, 709.7), 2);
    EXPECT_LE(worst_ulp(Op::Log, 1e-3, 3), 4);
    EXPECT_LE(worst_ulp(Op::Log, 1e-300, 1e300), 4);
    EXPECT_LE(worst_ulp(Op::Tanh, -1, 1), 4);
    EXPECT_LE(worst_ulp(Op::Tanh, -30, 30), 4);
    EXPECT_LE(worst_ulp(Op::Asin, -1, 1), 3);
    EXPECT_LE(worst_ulp(Op::Acos, -1, 1), 2);
    EXPECT_LE(worst_ulp(Op::Atan, -2, 2), 3);
    EXPECT_LE(worst_ulp(Op::Atan, -1e9, 1e9), 3);
  });
}

void expect_same(double found, double want, double a, double b) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(found)) << "at " << a << ", " << b << ": " << found;
  else if (std::isinf(want))
    EXPECT_EQ(found, want) << "at " << a << ", " << b;
  else
    EXPECT_NEAR(found, want, 4e-15 * std::abs(want) + 1e-300) << "at " << a << ", " << b;
}

// Every operation at zeros, infinities, NaN, huge and tiny numbers, in all pairs.
TEST(LineFunctions, SpecialValuesAreThoseOfTheStandardLibrary) {
  const std::vector<double> special = {0.0,   -0.0,  1,      -1,     kInf,    -kInf, kNan,
                                       -kNan, 1e300, -1e300, 1e-310, -1e-310, 2,     -2,
                                       800,   -800,  40000,  1e20,   0.5,     -0.5};
  for_each_isa([&] {
    for (int i = static_cast<int>(Op::Negate); i < expr::kNumOps; ++i) {
      const Op op = static_cast<Op>(i);
      SCOPED_TRACE("operation " + std::to_string(i));
      for (const double second : special)
        for (std::size_t first = 0; first < special.size(); ++first) {
          // A special value among ordinary ones: each lane is on its own.
          alignas(64) double a[kLanes], b[kLanes], y[kLanes];
          for (int lane = 0; lane < kLanes; ++lane) {
            a[lane] = lane == 3 ? special[first] : 0.1 * lane + 0.05;
            b[lane] = lane == 3 ? second : 0.7;
          }
          expr::apply_best(op, a, b, y);
          for (int lane = 0; lane < kLanes; ++lane)
            expect_same(y[lane], value_of(op, a[lane], b[lane]), a[lane], b[lane]);
        }
    }
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
