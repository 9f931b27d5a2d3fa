// The derivative harness: an adjoint against central differences along random directions.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

/// The one place where accuracies of derivative tests are set.
struct GradientTolerances {
  /// Half the length of the difference, times a direction of standard normal entries.
  double step = 1e-5;
  /// Allowed error, relative to the larger of 1 and the derivative.
  double relative = 2e-7;
  /// Random directions tried per variable.
  int directions = 3;
};

/// An input of the function under test, and the adjoint the code found for it.
struct GradientVariable {
  std::string name;
  std::span<double> value;           ///< perturbed in place and restored
  std::span<const double> gradient;  ///< same layout
  /// 0: any direction. n > 0: an n x n line matrix perturbed symmetrically, since only symmetric
  /// perturbations of a covariance mean anything; the gradient is then the full symmetric one.
  int symmetric_dim = 0;
};

inline std::vector<double> random_direction(const GradientVariable& variable,
                                            RandomStream& random) {
  std::vector<double> direction(variable.value.size());
  for (double& d : direction) d = random.normal();
  if (variable.symmetric_dim == 0) return direction;
  const std::size_t n = static_cast<std::size_t>(variable.symmetric_dim);
  const std::size_t width = direction.size() / (n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      for (std::size_t b = 0; b < width; ++b)
        direction[(j * n + i) * width + b] = direction[(i * n + j) * width + b];
  return direction;
}

/// <gradient, direction> must equal the central difference of `loss` along each direction, for one
/// variable at a time. `loss` reads the variables' values.
inline void check_gradient(const std::function<double()>& loss,
                           const std::vector<GradientVariable>& variables, std::uint64_t seed,
                           const GradientTolerances& tolerances = {}) {
  for (const GradientVariable& variable : variables) {
    ASSERT_EQ(variable.value.size(), variable.gradient.size()) << variable.name;
    RandomStream random(seed, variable.name);
    for (int trial = 0; trial < tolerances.directions; ++trial) {
      const std::vector<double> direction = random_direction(variable, random);
      const std::vector<double> base(variable.value.begin(), variable.value.end());
      double analytic = 0;
      for (std::size_t i = 0; i < base.size(); ++i) analytic += variable.gradient[i] * direction[i];
      const auto at = [&](double t) {
        for (std::size_t i = 0; i < base.size(); ++i)
          variable.value[i] = base[i] + t * direction[i];
        return loss();
      };
      const double numeric = (at(tolerances.step) - at(-tolerances.step)) / (2 * tolerances.step);
      std::copy(base.begin(), base.end(), variable.value.begin());
      const double allowed = tolerances.relative * std::max(1.0, std::abs(numeric));
      EXPECT_TRUE(std::abs(analytic - numeric) <= allowed)  // false for NaN
          << "adjoint of " << variable.name << ", direction " << trial << ": the adjoint gives "
          << analytic << ", the central difference " << numeric << ", allowed error " << allowed;
    }
  }
}

/// Sum of weight * value: turns outputs into a loss whose adjoint is `weights`.
inline double weighted_sum(std::span<const double> weights, std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
  return sum;
}

}  // namespace kalmia::test
