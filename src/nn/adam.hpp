// Adam with decoupled weight decay, clipping by the global norm, and learning-rate schedules.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.hpp"

namespace kalmia::nn {

struct AdamOptions {
  /// Step size at the start (after the warm-up).
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  /// Added to the root of the second moment.
  double epsilon = 1e-8;
  /// Decoupled (AdamW): each step also multiplies the parameters by 1 - rate * weight_decay.
  double weight_decay = 0;
  /// Gradients of a larger norm are scaled down to this norm; 0 turns clipping off.
  double clip_norm = 1;

  /// Throws ConfigError that names every violated rule.
  void validate() const;
};

/// The learning rate as a factor of AdamOptions::learning_rate over the steps of a run.
struct Schedule {
  enum class Kind { Constant, Cosine, Exponential };
  Kind kind = Kind::Constant;
  /// Steps over which the rate rises linearly from 0.
  std::int64_t warmup_steps = 0;
  /// Steps of the whole run; after them the rate stays at `final_factor`. Unused by Constant.
  std::int64_t total_steps = 0;
  /// The factor at the end of the run.
  double final_factor = 0.01;

  /// The factor for step 0, 1, ...
  double factor(std::int64_t step) const;
};

/// What one optimiser step did.
struct AdamStep {
  double gradient_norm = 0;  ///< before clipping
  bool applied = false;      ///< false if the gradient was not finite: nothing was changed
};

/// The optimiser's state: both moments, in the layout of the parameters.
///
/// Reference: Kingma & Ba (2015); Loshchilov & Hutter (2019) for the decay. With weight_decay = 0
/// it does what torch.optim.Adam does.
template <typename T>
class Adam {
 public:
  Adam(std::ptrdiff_t size, const AdamOptions& options);

  /// parameters -= rate_factor * learning_rate * m / (sqrt(v) + epsilon). Sums run in a fixed
  /// order, so the result does not depend on threads. A gradient with a NaN or an infinity changes
  /// nothing. Both spans must start on a line (a Buffer does).
  AdamStep step(std::span<const T> gradient, std::span<T> parameters, double rate_factor = 1);

  std::int64_t steps_taken() const { return steps_; }
  std::span<T> first_moment() { return m_.span().first(static_cast<std::size_t>(size_)); }
  std::span<T> second_moment() { return v_.span().first(static_cast<std::size_t>(size_)); }
  void set_steps_taken(std::int64_t steps) { steps_ = steps; }

 private:
  AdamOptions options_;
  std::ptrdiff_t size_;
  Buffer<T> m_;
  Buffer<T> v_;
  std::int64_t steps_ = 0;
};

/// One update with everything that is the same for all parameters worked out:
/// p = keep p - step_size m / (root_scale sqrt(v) + epsilon), with the moments m and v of
/// gradient_scale * g. The bias corrections are in step_size and root_scale.
template <typename T>
struct AdamRule {
  T beta1, beta2, gradient_scale, step_size, root_scale, epsilon, keep;
};

}  // namespace kalmia::nn
