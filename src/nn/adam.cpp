#include "nn/adam.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/adam.cpp"
#include <hwy/foreach_target.h>

#include "lanes/line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines of this instruction set
using lanes::kLineLanes;

// Applies the rule to whole lines of parameters; the arrays are padded to lines.
template <typename T>
void update_here(const AdamRule<T>& rule, std::ptrdiff_t size, const T* g, T* m, T* v, T* p) {
  const Line<T> beta1 = broadcast(rule.beta1), beta2 = broadcast(rule.beta2);
  const Line<T> scale = broadcast(rule.gradient_scale), keep = broadcast(rule.keep);
  const Line<T> step = broadcast(rule.step_size), root = broadcast(rule.root_scale);
  const Line<T> epsilon = broadcast(rule.epsilon), one = broadcast(T(1));
  for (std::ptrdiff_t i = 0; i < size; i += kLineLanes<T>) {
    const Line<T> gi = load(g + i) * scale;
    const Line<T> mi = fma(beta1, load(m + i), (one - beta1) * gi);
    const Line<T> vi = fma(beta2, load(v + i), (one - beta2) * (gi * gi));
    store(mi, m + i);
    store(vi, v + i);
    store(fnma(step, mi / fma(sqrt(vi), root, epsilon), keep * load(p + i)), p + i);
  }
}

// Sum of squares in double, lane by lane, then over the lanes: always in the same order.
template <typename T>
double square_norm_here(std::ptrdiff_t size, const T* g) {
  Line<double> sum = zero<double>();
  for (std::ptrdiff_t i = 0; i < size; i += kLineLanes<double>) {
    const Line<double> gi = load_as<double>(g + i);
    sum = fma(gi, gi, sum);
  }
  return sum_lanes(sum);
}

void update_float(const AdamRule<float>& rule, std::ptrdiff_t size, const float* g, float* m,
                  float* v, float* p) {
  update_here(rule, size, g, m, v, p);
}
void update_double(const AdamRule<double>& rule, std::ptrdiff_t size, const double* g, double* m,
                   double* v, double* p) {
  update_here(rule, size, g, m, v, p);
}
double square_norm_float(std::ptrdiff_t size, const float* g) { return square_norm_here(size, g); }
double square_norm_double(std::ptrdiff_t size, const double* g) {
  return square_norm_here(size, g);
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::nn {

HWY_EXPORT(update_float);
HWY_EXPORT(update_double);
HWY_EXPORT(square_norm_float);
HWY_EXPORT(square_norm_double);

namespace {

// Room for whole lines.
template <typename T>
std::size_t padded(std::ptrdiff_t size) {
  constexpr std::ptrdiff_t kLanes = lanes::kLineLanes<T>;
  return static_cast<std::size_t>((size + kLanes - 1) / kLanes * kLanes);
}

}  // namespace

void AdamOptions::validate() const {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, double value, const char* rule) {
    if (!holds)
      wrong +=
          std::string("\n  ") + name + " = " + std::to_string(value) + ", but it must be " + rule;
  };
  require(learning_rate > 0 && std::isfinite(learning_rate), "learning_rate", learning_rate, "> 0");
  require(beta1 >= 0 && beta1 < 1, "beta1", beta1, "in [0, 1)");
  require(beta2 >= 0 && beta2 < 1, "beta2", beta2, "in [0, 1)");
  require(epsilon > 0, "epsilon", epsilon, "> 0");
  require(weight_decay >= 0 && std::isfinite(weight_decay), "weight_decay", weight_decay, ">= 0");
  require(clip_norm >= 0, "clip_norm", clip_norm, ">= 0 (0 turns clipping off)");
  if (!wrong.empty()) throw ConfigError("invalid options of Adam:" + wrong);
}

double Schedule::factor(std::int64_t step) const {
  if (step < warmup_steps) return static_cast<double>(step + 1) / static_cast<double>(warmup_steps);
  if (kind == Kind::Constant) return 1;
  const auto span = static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) / span);
  if (kind == Kind::Exponential) return std::pow(final_factor, progress);
  return final_factor + (1 - final_factor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

template <typename T>
Adam<T>::Adam(std::ptrdiff_t size, const AdamOptions& options)
    : options_(options), size_(size), m_(padded<T>(size)), v_(padded<T>(size)) {
  options_.validate();
}

template <typename T>
AdamStep Adam<T>::step(std::span<const T> gradient, std::span<T> parameters, double rate_factor) {
  if (static_cast<std::ptrdiff_t>(gradient.size()) != size_ ||
      static_cast<std::ptrdiff_t>(parameters.size()) != size_)
    throw ConfigError("Adam: gradient has " + std::to_string(gradient.size()) +
                      " and parameters have " + std::to_string(parameters.size()) +
                      " numbers, but the optimiser was made for " + std::to_string(size_));
  // The kernels work on whole lines; what is left over is done in a padded line of its own.
  const std::ptrdiff_t whole = size_ / lanes::kLineLanes<T> * lanes::kLineLanes<T>;
  const std::ptrdiff_t rest = size_ - whole;
  alignas(kLineBytes) T g_rest[lanes::kLineLanes<T>] = {}, p_rest[lanes::kLineLanes<T>] = {};
  std::copy_n(gradient.data() + whole, rest, g_rest);
  std::copy_n(parameters.data() + whole, rest, p_rest);

  double square = 0;
  if constexpr (sizeof(T) == 4)
    square = HWY_DYNAMIC_DISPATCH(square_norm_float)(whole, gradient.data()) +
             HWY_DYNAMIC_DISPATCH(square_norm_float)(lanes::kLineLanes<T>, g_rest);
  else
    square = HWY_DYNAMIC_DISPATCH(square_norm_double)(whole, gradient.data()) +
             HWY_DYNAMIC_DISPATCH(square_norm_double)(lanes::kLineLanes<T>, g_rest);
  AdamStep result{.gradient_norm = std::sqrt(square)};
  if (!std::isfinite(square)) return result;
  result.applied = true;
  ++steps_;

  const bool clip = options_.clip_norm > 0 && result.gradient_norm > options_.clip_norm;
  const double rate = options_.learning_rate * rate_factor;
  const auto n = static_cast<double>(steps_);
  AdamRule<T> rule;
  rule.beta1 = static_cast<T>(options_.beta1);
  rule.beta2 = static_cast<T>(options_.beta2);
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6; so do we, for equal training runs.
  rule.gradient_scale =
      clip ? static_cast<T>(options_.clip_norm / (result.gradient_norm + 1e-6)) : T(1);
  rule.step_size = static_cast<T>(rate / (1 - std::pow(options_.beta1, n)));
  rule.root_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(options_.beta2, n)));
  rule.epsilon = static_cast<T>(options_.epsilon);
  rule.keep = static_cast<T>(1 - rate * options_.weight_decay);
  const auto update = [&](std::ptrdiff_t count, const T* g, std::ptrdiff_t at, T* p) {
    if constexpr (sizeof(T) == 4)
      HWY_DYNAMIC_DISPATCH(update_float)(rule, count, g, m_.data() + at, v_.data() + at, p);
    else
      HWY_DYNAMIC_DISPATCH(update_double)(rule, count, g, m_.data() + at, v_.data() + at, p);
  };
  update(whole, gradient.data(), 0, parameters.data());
  if (rest > 0) update(lanes::kLineLanes<T>, g_rest, whole, p_rest);
  std::copy_n(p_rest, rest, parameters.data() + whole);
  return result;
}

template class Adam<float>;
template class Adam<double>;

}  // namespace kalmia::nn
#endif
