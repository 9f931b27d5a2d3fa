#include "nn/adam.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::nn {

void AdamOptions::validate() const {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, double value, const char* rule) {
    if (!holds)
      wrong += std::string("\n  ") + name + " = " + std::to_string(value) + ", but it must be " + rule;
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
    : options_(options), m_(static_cast<std::size_t>(size)), v_(static_cast<std::size_t>(size)) {
  options_.validate();
}

template <typename T>
AdamStep Adam<T>::step(std::span<const T> gradient, std::span<T> parameters, double rate_factor) {
  if (gradient.size() != m_.size() || parameters.size() != m_.size())
    throw ConfigError("Adam: gradient has " + std::to_string(gradient.size()) +
                      " and parameters have " + std::to_string(parameters.size()) +
                      " numbers, but the optimiser was made for " + std::to_string(m_.size()));
  double square = 0;
  for (const T g : gradient) square += static_cast<double>(g) * static_cast<double>(g);
  AdamStep result{.gradient_norm = std::sqrt(square)};
  if (!std::isfinite(square)) return result;
  result.applied = true;
  ++steps_;

  const bool clip = options_.clip_norm > 0 && result.gradient_norm > options_.clip_norm;
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6; so do we, for equal training runs.
  const T scale = clip ? static_cast<T>(options_.clip_norm / (result.gradient_norm + 1e-6)) : T(1);
  const double rate = options_.learning_rate * rate_factor;
  const auto n = static_cast<double>(steps_);
  const T step_size = static_cast<T>(rate / (1 - std::pow(options_.beta1, n)));
  const T root_scale = static_cast<T>(1 / std::sqrt(1 - std::pow(options_.beta2, n)));
  const T keep = static_cast<T>(1 - rate * options_.weight_decay);
  const T beta1 = static_cast<T>(options_.beta1), beta2 = static_cast<T>(options_.beta2);
  const T epsilon = static_cast<T>(options_.epsilon);
  T* m = m_.data();
  T* v = v_.data();
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const T g = gradient[i] * scale;
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    parameters[i] = keep * parameters[i] - step_size * m[i] / (std::sqrt(v[i]) * root_scale + epsilon);
  }
  return result;
}

template class Adam<float>;
template class Adam<double>;

}  // namespace kalmia::nn
