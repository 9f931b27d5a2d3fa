// One Adam update with everything that is the same for all parameters worked out.
#pragma once

namespace kalmia::nn {

/// p = keep p - step_size m / (root_scale sqrt(v) + epsilon), with the moments m and v of
/// gradient_scale * g. The bias corrections are in step_size and root_scale.
template <typename T>
struct AdamRule {
  T beta1, beta2, gradient_scale, step_size, root_scale, epsilon, keep;
};

}  // namespace kalmia::nn
