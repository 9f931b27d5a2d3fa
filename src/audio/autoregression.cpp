#include "audio/autoregression.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace kalmia::audio {
namespace {

// This share of the variance is added as white noise, so that no prediction is perfect.
constexpr double kRidge = 1e-6;
constexpr double kLeastVariance = 1e-20;

}  // namespace

Autoregression autoregression(std::span<const double> autocovariance) {
  Autoregression result;
  result.autocovariance.assign(autocovariance.begin(), autocovariance.end());
  const std::vector<double>& r = result.autocovariance;
  result.autocovariance[0] = (1 + kRidge) * r[0] + kLeastVariance;
  const std::size_t order = r.size() - 1;
  std::vector<double>& a = result.coefficients;
  a.assign(order, 0.0);
  double error = r[0];
  for (std::size_t m = 0; m < order; ++m) {
    double missed = r[m + 1];
    for (std::size_t k = 0; k < m; ++k) missed -= a[k] * r[m - k];
    const double reflection = missed / error;
    if (!(std::abs(reflection) < 1)) break;
    const std::vector<double> before(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(m));
    for (std::size_t k = 0; k < m; ++k) a[k] -= reflection * before[m - 1 - k];
    a[m] = reflection;
    error *= 1 - reflection * reflection;
  }
  result.innovation = error;
  return result;
}

std::vector<double> autocovariance_of(std::span<const float> power, int order) {
  const std::size_t last = power.size() - 1, window = 2 * last;
  // The scale from power to variance: the inverse transform over the sum of the squared window.
  const double scale = 2 / (static_cast<double>(window) * static_cast<double>(window));
  std::vector<double> result;
  for (int k = 0; k <= order; ++k) {
    // cos(2 pi f k / window) for f = 0, 1, ... by its recursion.
    const double angle = 2 * std::numbers::pi * k / static_cast<double>(window);
    const double twice = 2 * std::cos(angle);
    double before = std::cos(angle), now = 1, sum = 0;
    for (std::size_t f = 0; f <= last; ++f) {
      sum += (f == 0 || f == last ? 1 : 2) * static_cast<double>(power[f]) * now;
      const double next = twice * now - before;
      before = now;
      now = next;
    }
    result.push_back(scale * sum);
  }
  return result;
}

}  // namespace kalmia::audio
