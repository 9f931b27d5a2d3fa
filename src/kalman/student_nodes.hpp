// Student's t distribution as a mixture of Gaussians.
#pragma once

#include <array>

namespace kalmia::kalman {

/// t_nu of unit scale as a finite mixture of Gaussians N(0, 1 / w_k) with shares p_k: the
/// trapezoidal rule for the integral of N(0, 1 / w) Gamma(w; nu / 2, nu / 2) over log w. A mixture
/// is a density whatever the rule's error.
/// Measured, nu 1 to 200: within 6 deviations the density is within 1e-4 of Student's, relatively;
/// for nu = 3 up to 1,000 deviations. Further out than its widest part it falls faster.
struct StudentNodes {
  static constexpr int kMost = 48;
  int count = 0;
  std::array<double, kMost> weight{}, scale{}, log_share{};  ///< w_k, w_k^-1/2, log p_k

  explicit StudentNodes(double degrees_of_freedom);
};

}  // namespace kalmia::kalman
