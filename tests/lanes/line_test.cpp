// Lines behave like their lanes, one by one, whatever registers they are made of.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/line_test.cpp"
#include <hwy/foreach_target.h>

#include "lanes/line-inl.h"

#ifndef KALMIA_TEST_LINE_RESULT_
#define KALMIA_TEST_LINE_RESULT_
namespace kalmia::test {
template <typename T>
struct LineResult {
  alignas(64) T fma[16], fnma[16], ratio[16], root[16], chosen[16], positive[16];
  T sum;
  lanes::LaneBits greater, nonzero;
};
}  // namespace kalmia::test
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

template <typename T>
void operate(const T* pa, const T* pb, const T* pc, LineResult<T>& out) {
  const ln::Line<T> a = ln::load(pa), b = ln::load(pb), c = ln::load(pc);
  ln::store(ln::fma(a, b, c), out.fma);
  ln::store(ln::fnma(a, b, c), out.fnma);
  ln::store((a - b) / c, out.ratio);
  ln::store(ln::sqrt(ln::abs(-a)), out.root);
  ln::store(ln::select(ln::greater(a, b), a, b), out.chosen);
  ln::store(ln::zero_if_negative(a), out.positive);
  out.sum = ln::sum_lanes(a + b);
  out.greater = ln::bits_of(ln::greater(a, b));
  out.nonzero = ln::bits_of(ln::nonzero(c));
}
void operate_float(const float* a, const float* b, const float* c, LineResult<float>& out) {
  operate(a, b, c, out);
}
void operate_double(const double* a, const double* b, const double* c, LineResult<double>& out) {
  operate(a, b, c, out);
}
// Half a line of floats to a line of doubles and back.
void round_trip(const float* in, double* wide, float* back) {
  ln::store(ln::load_as<double>(in), wide);
  ln::store_as(ln::load(wide), back);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(operate_float);
HWY_EXPORT(operate_double);
HWY_EXPORT(round_trip);

template <typename T>
void expect_lane_by_lane() {
  constexpr int kLanes = lanes::kLineLanes<T>;
  RandomStream random(9, "line");
  alignas(64) T a[kLanes], b[kLanes], c[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    a[i] = static_cast<T>(random.normal());
    b[i] = static_cast<T>(random.normal());
    c[i] = i % 3 == 0 ? T(0) : static_cast<T>(2 + random.uniform());
  }
  LineResult<T> out;
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(operate_float)(a, b, c, out);
  else
    HWY_DYNAMIC_DISPATCH(operate_double)(a, b, c, out);
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-15;
  double sum = 0;
  for (int i = 0; i < kLanes; ++i) {
    SCOPED_TRACE("lane " + std::to_string(i));
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    const double z = static_cast<double>(c[i]);
    EXPECT_NEAR(static_cast<double>(out.fma[i]), x * y + z, 4 * tolerance);
    EXPECT_NEAR(static_cast<double>(out.fnma[i]), z - x * y, 4 * tolerance);
    if (z != 0) {
      EXPECT_NEAR(static_cast<double>(out.ratio[i]), (x - y) / z, 4 * tolerance);
    }
    EXPECT_NEAR(static_cast<double>(out.root[i]), std::sqrt(std::abs(x)), 4 * tolerance);
    EXPECT_EQ(out.chosen[i], std::max(a[i], b[i]));
    EXPECT_EQ(out.positive[i], std::max(a[i], T(0)));
    EXPECT_EQ((out.greater >> i) & 1, a[i] > b[i] ? 1u : 0u);
    EXPECT_EQ((out.nonzero >> i) & 1, c[i] != 0 ? 1u : 0u);
    sum += x + y;
  }
  EXPECT_EQ(out.greater >> kLanes, 0u);
  EXPECT_NEAR(static_cast<double>(out.sum), sum, 20 * tolerance);
}

TEST(Line, ArithmeticIsLaneByLane) {
  for_each_isa([] {
    expect_lane_by_lane<float>();
    expect_lane_by_lane<double>();
  });
}

TEST(Line, FloatsSurviveTheWayThroughDouble) {
  for_each_isa([] {
    alignas(64) float in[16], back[16];
    alignas(64) double wide[8];
    for (int i = 0; i < 16; ++i) in[i] = 0.1f * static_cast<float>(i) - 0.3f;
    HWY_DYNAMIC_DISPATCH(round_trip)(in + 8, wide, back);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(wide[i], static_cast<double>(in[8 + i]));
      EXPECT_EQ(back[i], in[8 + i]);
    }
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
