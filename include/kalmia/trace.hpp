/// \file
/// Expert knowledge in C++: a function written once for any scalar. It is called once with a scalar
/// that notes what is done with it, and what it noted becomes the equations of a System.
///
///   struct Pendulum {
///     template <typename T>
///     std::array<T, 2> operator()(const kalmia::Point<T>& at) const {
///       using std::sin;
///       return {at.x[1], -at.theta[0] * sin(at.x[0]) - at.theta[1] * at.x[1]};
///     }
///   };
///
///   kalmia::System system;
///   system.states = {"angle", "rate"};
///   system.parameters = {{"gravity", 5, true, 0}, {"damping", 1, true, 0}};
///   kalmia::trace_ode(system, Pendulum{});
///
/// The same function also runs with double. It must do the same whatever the values: a traced value
/// has none, so that comparing it does not compile (take min, max, abs or sign).
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kalmia/system.hpp"

namespace kalmia {

/// Shown by the compiler where a traced value is compared.
struct A_traced_value_cannot_be_compared_use_min_max_abs_or_sign;

/// A number that remembers how it was computed. It is a constant where nothing of the system went
/// into it. Copies are cheap.
class Traced {
 public:
  Traced(double constant = 0) : constant_(constant) {}  // NOLINT: numbers mix with traced values

  friend Traced operator+(const Traced& a, const Traced& b) { return apply("+", a, b); }
  friend Traced operator-(const Traced& a, const Traced& b) { return apply("-", a, b); }
  friend Traced operator*(const Traced& a, const Traced& b) { return apply("*", a, b); }
  friend Traced operator/(const Traced& a, const Traced& b) { return apply("/", a, b); }
  friend Traced operator-(const Traced& a) { return apply("negate", a); }
  friend Traced operator+(const Traced& a) { return a; }
  Traced& operator+=(const Traced& b) { return *this = *this + b; }
  Traced& operator-=(const Traced& b) { return *this = *this - b; }
  Traced& operator*=(const Traced& b) { return *this = *this * b; }
  Traced& operator/=(const Traced& b) { return *this = *this / b; }

  // The functions of expressions. Call them without a namespace after `using std::sin;` and so on:
  // then the compiler takes these for traced values and those of <cmath> for numbers.
  friend Traced sin(const Traced& a) { return apply("sin", a); }
  friend Traced cos(const Traced& a) { return apply("cos", a); }
  friend Traced tan(const Traced& a) { return apply("tan", a); }
  friend Traced asin(const Traced& a) { return apply("asin", a); }
  friend Traced acos(const Traced& a) { return apply("acos", a); }
  friend Traced atan(const Traced& a) { return apply("atan", a); }
  friend Traced atan2(const Traced& a, const Traced& b) { return apply("atan2", a, b); }
  friend Traced sinh(const Traced& a) { return apply("sinh", a); }
  friend Traced cosh(const Traced& a) { return apply("cosh", a); }
  friend Traced tanh(const Traced& a) { return apply("tanh", a); }
  friend Traced exp(const Traced& a) { return apply("exp", a); }
  friend Traced log(const Traced& a) { return apply("log", a); }
  friend Traced sqrt(const Traced& a) { return apply("sqrt", a); }
  friend Traced pow(const Traced& a, const Traced& b) { return apply("pow", a, b); }
  friend Traced abs(const Traced& a) { return apply("abs", a); }
  friend Traced fabs(const Traced& a) { return apply("abs", a); }
  friend Traced min(const Traced& a, const Traced& b) { return apply("min", a, b); }
  friend Traced max(const Traced& a, const Traced& b) { return apply("max", a, b); }
  friend Traced fmin(const Traced& a, const Traced& b) { return apply("min", a, b); }
  friend Traced fmax(const Traced& a, const Traced& b) { return apply("max", a, b); }
  friend Traced sign(const Traced& a) { return apply("sign", a); }
  friend Traced sigmoid(const Traced& a) { return apply("sigmoid", a); }
  friend Traced softplus(const Traced& a) { return apply("softplus", a); }

  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator<(
      const Traced&, const Traced&) = delete;
  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator>(
      const Traced&, const Traced&) = delete;
  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator<=(
      const Traced&, const Traced&) = delete;
  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator>=(
      const Traced&, const Traced&) = delete;
  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator==(
      const Traced&, const Traced&) = delete;
  friend A_traced_value_cannot_be_compared_use_min_max_abs_or_sign operator!=(
      const Traced&, const Traced&) = delete;

  /// What was done, in order; see trace.cpp.
  class Tape;
  /// A name of the system.
  Traced(std::shared_ptr<Tape> tape, const std::string& name);

 private:
  friend class Tape;
  static Traced apply(std::string_view operation, const Traced& a, const Traced& b = 0);

  std::shared_ptr<Tape> tape_;  // null: a constant
  int entry_ = -1;
  double constant_ = 0;
};

/// The functions of expressions that <cmath> lacks, of numbers.
double sign(double a);      ///< -1, 0 or 1
double sigmoid(double a);   ///< 1 / (1 + e^-a)
double softplus(double a);  ///< log(1 + e^a)

/// What a function of a system may depend on: states, inputs and parameters in the order of
/// System::states, inputs and parameters, and the length of the step.
template <typename T>
struct Point {
  std::vector<T> x;
  std::vector<T> u;
  std::vector<T> theta;
  T dt = 0;
};

/// A function of a Point with any scalar; it gives a vector or array of that scalar.
template <typename F>
concept SystemFunction = requires(const F& f, const Point<Traced>& at) {
  { *f(at).begin() } -> std::convertible_to<Traced>;
  f(at).end();
};

/// A point whose coordinates are the names of the system.
Point<Traced> traced_point(const System& system);

/// The values as equations of these names. What is used more than once becomes a definition, added
/// to system.define, so that the text grows with the number of operations and no faster. Throws
/// ConfigError, which names `place`, if there are not as many values as names, or a constant is not
/// finite.
std::vector<Equation> traced_equations(System& system, const std::vector<std::string>& names,
                                       const std::vector<Traced>& values, const std::string& place);

namespace detail {
template <SystemFunction F>
std::vector<Traced> traced_values(const System& system, const F& f) {
  const auto values = f(traced_point(system));
  return std::vector<Traced>(values.begin(), values.end());
}
}  // namespace detail

/// Sets system.ode: the derivative of each state by time. States, inputs and parameters must have
/// been named before.
template <SystemFunction F>
void trace_ode(System& system, const F& f) {
  system.ode =
      traced_equations(system, system.states, detail::traced_values(system, f), "system.ode");
}

/// Sets system.next: the value of each state after a step.
template <SystemFunction F>
void trace_next(System& system, const F& f) {
  system.next =
      traced_equations(system, system.states, detail::traced_values(system, f), "system.next");
}

/// Sets system.measure: what each of these columns is a noisy value of.
template <SystemFunction F>
void trace_measure(System& system, const std::vector<std::string>& columns, const F& f) {
  system.measure =
      traced_equations(system, columns, detail::traced_values(system, f), "system.measure");
}

}  // namespace kalmia
