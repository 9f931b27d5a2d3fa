// The smallest program on top of an installed Kalmia: filters a random walk measured three times,
// once not at all.
#include <cmath>
#include <iostream>
#include <kalmia/classical.hpp>
#include <kalmia/error.hpp>
#include <kalmia/version.hpp>
#include <vector>

int main() {
  kalmia::LinearModel walk;
  walk.state_dim = walk.meas_dim = 1;
  walk.F = {1};
  walk.Q = {0.1};
  walk.H = {1};
  walk.R = {1};
  walk.P0 = {10};
  const std::vector<double> y = {1.0, std::nan(""), 2.0, 1.5};
  try {
    const kalmia::FilterResult result = kalmia::kalman_filter(walk, {y.data(), 1, 4, 1, {}});
    std::cout << "kalmia " << kalmia::kVersionText << ", last mean " << result.filtered.mean[3]
              << "\n";
  } catch (const kalmia::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
