// Elementary functions against the standard library in long double, for the stated bounds.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/math_test.cpp"
#include <hwy/foreach_target.h>

#include "lanes/math-inl.h"

#ifndef KALMIA_TEST_MATH_FUNCTION_
#define KALMIA_TEST_MATH_FUNCTION_
namespace kalmia::test {
enum class Function { Sigmoid, Tanh, Softplus, Exp, Log };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

template <typename T>
void apply(Function function, const T* x, T* y) {
  const ln::Line<T> in = ln::load(x);
  switch (function) {
    case Function::Sigmoid:
      return ln::store(ln::sigmoid(in), y);
    case Function::Tanh:
      return ln::store(ln::tanh(in), y);
    case Function::Softplus:
      return ln::store(ln::softplus(in), y);
    case Function::Exp:
      return ln::store(ln::exp(in), y);
    case Function::Log:
      return ln::store(ln::log(in), y);
  }
}
void apply_float(Function function, const float* x, float* y) { apply(function, x, y); }
void apply_double(Function function, const double* x, double* y) { apply(function, x, y); }

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(apply_float);
HWY_EXPORT(apply_double);

long double exact(Function function, long double x) {
  switch (function) {
    case Function::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Function::Tanh:
      return std::tanh(x);
    case Function::Softplus:
      return std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
    case Function::Exp:
      return std::exp(x);
    case Function::Log:
      break;
  }
  return std::log(x);
}

template <typename T>
void apply(Function function, const T* x, T* y) {
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(apply_float)(function, x, y);
  else
    HWY_DYNAMIC_DISPATCH(apply_double)(function, x, y);
}

// Largest error over [low, high], absolute or relative.
template <typename T>
double worst(Function function, double low, double high, bool relative) {
  constexpr int kLanes = lanes::kLineLanes<T>;
  constexpr int kPoints = 40000 / kLanes * kLanes;
  double largest = 0;
  for (int i = 0; i < kPoints; i += kLanes) {
    alignas(64) T x[kLanes], y[kLanes];
    for (int b = 0; b < kLanes; ++b)
      x[b] = static_cast<T>(low + (high - low) * (i + b) / (kPoints - 1));
    apply(function, x, y);
    for (int b = 0; b < kLanes; ++b) {
      const long double want = exact(function, static_cast<long double>(x[b]));
      const long double error = std::fabs(static_cast<long double>(y[b]) - want);
      largest = std::max(largest, static_cast<double>(relative ? error / std::fabs(want) : error));
    }
  }
  return largest;
}

// The bounds are those stated at the functions.
TEST(LineMath, StaysWithinItsErrorBounds) {
  for_each_isa([] {
    const bool exact_reciprocal = lanes::current_isa() == lanes::Isa::Avx512;
    EXPECT_LE(worst<float>(Function::Sigmoid, -100, 100, false), exact_reciprocal ? 2e-7 : 4e-7);
    EXPECT_LE(worst<float>(Function::Tanh, -30, 30, false), exact_reciprocal ? 4e-7 : 8e-7);
    EXPECT_LE(worst<float>(Function::Exp, -87, 87, true), 3e-7);
    EXPECT_LE(worst<float>(Function::Softplus, -80, 100, true), 4e-7);
    EXPECT_LE(worst<float>(Function::Log, 1e-3, 100, false), 1e-6);
    EXPECT_LE(worst<double>(Function::Sigmoid, -800, 800, false), 4e-16);
    EXPECT_LE(worst<double>(Function::Tanh, -30, 30, false), 8e-16);
    EXPECT_LE(worst<double>(Function::Exp, -700, 700, true), 2e-15);
    EXPECT_LE(worst<double>(Function::Softplus, -600, 100, true), 2e-15);
    EXPECT_LE(worst<double>(Function::Log, 1e-3, 100, false), 2e-15);
  });
}

template <typename T>
void expect_limits() {
  constexpr int kLanes = lanes::kLineLanes<T>;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  alignas(64) T x[kLanes] = {}, y[kLanes];
  x[0] = kInf;
  x[1] = -kInf;
  x[2] = std::numeric_limits<T>::quiet_NaN();
  x[3] = 1;
  apply(Function::Sigmoid, x, y);
  EXPECT_NEAR(static_cast<double>(y[0]), 1, 1e-6);
  EXPECT_NEAR(static_cast<double>(y[1]), 0, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_NEAR(static_cast<double>(y[3]), 1 / (1 + std::exp(-1.0)), 1e-6);
  apply(Function::Tanh, x, y);
  EXPECT_NEAR(static_cast<double>(y[0]), 1, 1e-6);
  EXPECT_NEAR(static_cast<double>(y[1]), -1, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
  apply(Function::Exp, x, y);
  EXPECT_NEAR(static_cast<double>(y[1]), 0, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_NEAR(static_cast<double>(y[3]), std::exp(1.0), 1e-6);
  apply(Function::Softplus, x, y);
  EXPECT_EQ(y[0], kInf);
  EXPECT_NEAR(static_cast<double>(y[1]), 0, 1e-6);
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST(LineMath, InfinitiesGiveTheLimitsAndNansStayNans) {
  for_each_isa([] {
    expect_limits<float>();
    expect_limits<double>();
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
