// Equations from C++ functions: they are those that the text would have given.
#include "kalmia/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kalmia/error.hpp"
#include "prior/expert.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::prior {
namespace {

struct Lorenz {
  template <typename T>
  std::array<T, 3> operator()(const kalmia::Point<T>& at) const {
    const T &x = at.x[0], &y = at.x[1], &z = at.x[2];
    const T &sigma = at.theta[0], &rho = at.theta[1], &beta = at.theta[2];
    return {sigma * (y - x), x * (rho - z) - y, x * y - beta * z};
  }
};

System traced_lorenz() {
  System s;
  s.states = {"x", "y", "z"};
  s.parameters = {{"sigma", 10}, {"rho", 28, true, 1, 100}, {"beta", 8.0 / 3}};
  return s;
}

System lorenz_text() {
  System s = traced_lorenz();
  s.ode = {{"x", "sigma*(y - x)"}, {"y", "x*(rho - z) - y"}, {"z", "x*y - beta*z"}};
  return s;
}

// A pendulum with a motor, and a camera that shows its bob.
struct Pendulum {
  template <typename T>
  std::vector<T> operator()(const kalmia::Point<T>& at) const {
    using std::sin;
    const T pull = -at.theta[0] / at.theta[1] * sin(at.x[0]);
    return {at.x[1], pull - 0.1 * at.x[1] + at.u[0]};
  }
};
struct Camera {
  template <typename T>
  std::vector<T> operator()(const kalmia::Point<T>& at) const {
    using std::cos, std::sin;
    return {at.theta[1] * sin(at.x[0]), -at.theta[1] * cos(at.x[0])};
  }
};

System traced_pendulum() {
  System s;
  s.states = {"angle", "rate"};
  s.inputs = {"motor"};
  s.parameters = {{"g", 9.81}, {"length", 2, true, 0.1, 10}};
  return s;
}

System pendulum_text() {
  System s = traced_pendulum();
  s.ode = {{"angle", "rate"}, {"rate", "-g/length*sin(angle) - 0.1*rate + motor"}};
  s.measure = {{"across", "length*sin(angle)"}, {"up", "-length*cos(angle)"}};
  return s;
}

void expect_same_map(const Expert& a, const Expert& b, const Point& at) {
  const LocalMap first = local_map(a, at), second = local_map(b, at);
  EXPECT_EQ(first.F, second.F);
  EXPECT_EQ(first.e, second.e);
}

TEST(Trace, LorenzIsWhatTheTextGives) {
  System traced = traced_lorenz();
  trace_ode(traced, Lorenz{});
  const System text = lorenz_text();
  ASSERT_EQ(traced.ode.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(traced.ode[i].name, text.ode[i].name);
    EXPECT_EQ(traced.ode[i].text, text.ode[i].text);
  }
  EXPECT_TRUE(traced.define.empty());
  const std::vector<std::string> channels = {"x", "y", "z"};
  expect_same_map(make_expert(test::equations(traced), channels),
                  make_expert(test::equations(text), channels),
                  {Vector{{1.3, -7.1, 22.4}}, 0.02, Vector(0), Vector{{9.5, 27, 2.5}}});
}

TEST(Trace, InputsAndMeasurementsAreWhatTheTextGives) {
  System traced = traced_pendulum();
  trace_ode(traced, Pendulum{});
  trace_measure(traced, {"across", "up"}, Camera{});
  const std::vector<std::string> channels = {"across", "up"}, inputs = {"motor"};
  const Expert a = make_expert(test::equations(traced), channels, inputs);
  const Expert b = make_expert(test::equations(pendulum_text()), channels, inputs);
  const Point at{Vector{{0.7, -1.2}}, 0.1, Vector{{0.6}}, Vector{{9.81, 1.5}}};
  expect_same_map(a, b, at);
  for (std::size_t m = 0; m < 2; ++m)
    EXPECT_EQ(traced.measure[m].text, pendulum_text().measure[m].text);
}

TEST(Trace, TheSameFunctionRunsWithNumbers) {
  const kalmia::Point<double> at{{0.7, -1.2}, {0.6}, {9.81, 1.5}, 0.1};
  const std::vector<double> slope = Pendulum{}(at);
  EXPECT_DOUBLE_EQ(slope[0], -1.2);
  EXPECT_DOUBLE_EQ(slope[1], -9.81 / 1.5 * std::sin(0.7) + 0.12 + 0.6);
  EXPECT_EQ(kalmia::sign(-3), -1);
  EXPECT_DOUBLE_EQ(kalmia::sigmoid(0.3), 1 / (1 + std::exp(-0.3)));
  EXPECT_DOUBLE_EQ(kalmia::softplus(0.3), std::log1p(std::exp(0.3)));
}

// A map of one state by a function; its value at x, as F x + e of the local map.
template <typename F>
double traced_value(const F& f, double x) {
  System s;
  s.states = {"x"};
  trace_next(s, f);
  const LocalMap map = local_map(make_expert(test::equations(s), {"x"}), {Vector{{x}}, 0.5});
  return map.F(0, 0) * x + map.e(0);
}
template <typename F>
double direct_value(const F& f, double x) {
  return f(kalmia::Point<double>{{x}, {}, {}, 0.5})[0];
}

TEST(Trace, EveryFunctionOfExpressionsIsKnown) {
  const auto every = [](const auto& at) {
    using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::cosh, std::exp,
        std::fabs, std::fmax, std::fmin, std::log, std::max, std::min, std::pow, std::sin,
        std::sinh, std::sqrt, std::tan, std::tanh, kalmia::sigmoid, kalmia::sign, kalmia::softplus;
    using T = std::decay_t<decltype(at.dt)>;
    const T& x = at.x[0];
    T sum = sin(x) + cos(x) - tan(x) * asin(x) / acos(x) + atan(x) - atan2(x, at.dt);
    sum += sinh(x) + cosh(x) * tanh(x) - exp(x) + log(x) * sqrt(x);
    sum -= pow(x, T(2.5)) + abs(x - 1) + fabs(x - 2) + sign(x - 3);
    sum *= min(x, T(0.5)) + max(x, T(0.1)) + fmin(x, T(0.2)) + fmax(x, T(0.9));
    sum /= sigmoid(x) + softplus(-x);
    return std::array<T, 1>{+sum};
  };
  for (const double x : {0.15, 0.4, 0.85})
    EXPECT_NEAR(traced_value(every, x), direct_value(every, x),
                1e-13 * (1 + std::abs(direct_value(every, x))));
}

// Whatever was computed, in whatever order: the text says the same. Only operations whose text
// needs precedence; values stay near 1.
struct Chaos {
  std::uint64_t seed;
  template <typename T>
  std::vector<T> operator()(const kalmia::Point<T>& at) const {
    RandomStream random(seed, "trace");
    std::vector<T> made = {at.x[0], T(0.75), T(-1.25), at.dt};
    for (int i = 0; i < 40; ++i) {
      const T a = made[random.below(made.size())], b = made[random.below(made.size())];
      switch (random.below(8)) {
        case 0:
          made.push_back((a + b) / 2);
          break;
        case 1:
          made.push_back(0.5 * (a - b));
          break;
        case 2:
          made.push_back(a * b / (1 + b * b));
          break;
        case 3:
          made.push_back(a / (2 + b * b));
          break;
        case 4:
          made.push_back(-a);
          break;
        case 5: {
          using std::pow;
          made.push_back(pow(1 + a * a / (1 + a * a), -b / (1 + b * b)));
          break;
        }
        case 6:
          made.push_back(-2 - a / -3);
          break;
        default: {
          using std::sin;
          made.push_back(sin(a - (b - 1)));
        }
      }
    }
    T sum = 0;
    for (const T& each : made) sum = sum / 2 + each;
    return {sum};
  }
};

TEST(Trace, TextSaysWhatWasComputed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const double direct = direct_value(Chaos{seed}, 0.6);
    EXPECT_NEAR(traced_value(Chaos{seed}, 0.6), direct, 1e-11 * (1 + std::abs(direct))) << seed;
  }
}

struct Doubling {
  int times;
  template <typename T>
  std::vector<T> operator()(const kalmia::Point<T>& at) const {
    T x = at.x[0];
    for (int i = 0; i < times; ++i) x = x * x + x;
    return {x};
  }
};

std::size_t text_size(const System& system) {
  std::size_t size = 0;
  for (const auto& equations : {system.define, system.next})
    for (const Equation& each : equations) size += each.name.size() + each.text.size();
  return size;
}

TEST(Trace, WhatIsUsedAgainIsWrittenOnce) {
  System s;
  s.states = {"x"};
  trace_next(s, Doubling{60});
  EXPECT_EQ(s.define.size(), 59u);
  // Each is "a = b*b + b": four names such as shared_12 and four characters between them.
  EXPECT_LE(text_size(s), 60u * (4 * 9 + 4));
  const Expert expert = make_expert(test::equations(s), {"x"});
  // d/dx of x^2 + x at 0 is 1, sixty times.
  const LocalMap map = local_map(expert, {Vector{{0.0}}});
  EXPECT_EQ(map.F(0, 0), 1);
  EXPECT_EQ(map.e(0), 0);
}

TEST(Trace, DeepExpressionsAreCutIntoParts) {
  const auto deep = [](const auto& at) {
    using std::sin;
    auto x = at.x[0];
    for (int i = 0; i < 2000; ++i) x = sin(x) / 0.999;
    return std::vector{x};
  };
  EXPECT_NEAR(traced_value(deep, 0.4), direct_value(deep, 0.4), 1e-11);
}

TEST(Trace, NamesOfDefinitionsAreNew) {
  System s;
  s.states = {"shared_1"};
  s.define = {{"shared_2", "3"}};
  trace_next(s, Doubling{2});
  ASSERT_EQ(s.define.size(), 2u);
  EXPECT_EQ(s.define[1].name, "shared_3");
  EXPECT_EQ(s.define[1].text, "shared_1*shared_1 + shared_1");
  EXPECT_EQ(s.next[0].text, "shared_3*shared_3 + shared_3");
  trace_measure(s, {"y"}, Doubling{2});
  ASSERT_EQ(s.define.size(), 3u);
  EXPECT_EQ(s.define[2].name, "shared_4");
}

TEST(Trace, ConstantsStayNumbers) {
  System s;
  s.states = {"a", "b"};
  trace_ode(s, [](const auto& at) {
    using std::sqrt;
    using T = std::decay_t<decltype(at.dt)>;
    return std::vector<T>{sqrt(T(16)) * 0.1, at.x[0] * -2};
  });
  EXPECT_EQ(s.ode[0].text, "0.4");
  EXPECT_EQ(s.ode[1].text, "a*(-2)");
}

template <typename T>
concept Comparable = requires(T a, T b) {
  a < b;
}
|| requires(T a, T b) { a > b; }
|| requires(T a, T b) { a <= b; }
|| requires(T a, T b) { a >= b; }
|| requires(T a, T b) { a == b; }
|| requires(T a, T b) { a != b; }
|| requires(T a) { a > 0.0; }
|| requires(T a) { a ? 1 : 2; };

TEST(Trace, ComparingDoesNotCompile) {
  EXPECT_TRUE(Comparable<double>);
  EXPECT_FALSE(Comparable<Traced>);
  EXPECT_FALSE((std::is_convertible_v<Traced, double>));
}

template <typename Act>
std::string error_of(const Act& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Trace, MistakesAreSaid) {
  System s = traced_pendulum();
  EXPECT_EQ(error_of([&] { trace_ode(s, [](const auto& at) { return std::vector{at.x[0]}; }); }),
            "system.ode: the function gives 1 value, but there must be 2");
  EXPECT_EQ(error_of([&] {
              trace_next(s, [](const auto& at) {
                return std::vector{at.x[0], at.x[1] * std::numeric_limits<double>::infinity()};
              });
            }),
            "system.next: the function makes a constant that is inf, but constants must be finite");
  EXPECT_EQ(error_of([&] {
              System none;
              trace_ode(none, Lorenz{});
            }),
            "trace: system.states is empty, but states must be named before");
  const Traced kept = traced_point(s).x[0];
  EXPECT_EQ(error_of([&] {
              trace_ode(s, [&](const auto& at) { return std::vector{at.x[0], at.x[1] + kept}; });
            }),
            "trace: traced values of two calls are mixed; keep none from one call to the next");
  EXPECT_EQ(error_of([&] {
              trace_ode(s, [&](const auto& at) { return std::vector{at.x[0], kept}; });
            }),
            "system.ode: traced values of two calls are mixed; keep none from one call to the "
            "next");
  EXPECT_TRUE(s.ode.empty());
  EXPECT_TRUE(s.define.empty());
}

}  // namespace
}  // namespace kalmia::prior
