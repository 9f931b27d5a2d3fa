#include "infer/measurement_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "infer/model_impl.hpp"

namespace kalmia::infer {
namespace {

constexpr double kDeviations95 = 1.959963984540054;

// The share of t_nu within +-z. With t = sqrt(nu) tan(a) its density is that of a,
// cos(a)^(nu-1) / B, with B = sqrt(pi) Gamma(nu/2) / Gamma((nu+1)/2); Simpson's rule.
double share_within(double nu, double z) {
  constexpr int kIntervals = 2000;
  const double end = std::atan(z / std::sqrt(nu)), step = end / kIntervals;
  double sum = 1 + std::pow(std::cos(end), nu - 1);
  for (int i = 1; i < kIntervals; ++i)
    sum += (i % 2 == 1 ? 4 : 2) * std::pow(std::cos(i * step), nu - 1);
  const double log_B =
      0.5 * std::log(std::numbers::pi) + std::lgamma(nu / 2) - std::lgamma((nu + 1) / 2);
  return 2 * sum * step / 3 / std::exp(log_B);
}

}  // namespace

double tail_factor(double tails) {
  if (tails == 0) return 1;
  if (tails > 2) return tails / (tails - 2);
  double low = 0, high = 20;  // 95 % of t_1 are within 12.7
  while (high - low > 1e-9) {
    const double middle = 0.5 * (low + high);
    (share_within(tails, middle) < 0.95 ? low : high) = middle;
  }
  return std::pow(high / kDeviations95, 2);
}

MeasurementNoise::MeasurementNoise(const Model& model)
    : R_(model.noise()), std_(model.impl().learned->description().noise_std) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  if (std_.empty())
    for (std::size_t m = 0; m < M; ++m) std_.push_back(std::sqrt(R_[m * (M + 1)]));
  const double factor = tail_factor(model.impl().learned->description().tails);
  for (double& entry : R_) entry *= factor;
}

void MeasurementNoise::at(const double* y_std, double* R) const {
  std::copy(R_.begin(), R_.end(), R);
  if (y_std == nullptr) return;
  const std::size_t M = std_.size();
  const auto ratio = [&](std::size_t m) {
    return y_std[m] > 0 && std::isfinite(y_std[m]) ? y_std[m] / std_[m] : 1;
  };
  for (std::size_t i = 0; i < M * M; ++i) R[i] *= ratio(i / M) * ratio(i % M);
}

}  // namespace kalmia::infer
