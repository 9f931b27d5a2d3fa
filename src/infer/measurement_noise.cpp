#include "infer/measurement_noise.hpp"

#include <algorithm>
#include <cmath>

#include "infer/model_impl.hpp"

namespace kalmia::infer {

MeasurementNoise::MeasurementNoise(const Model& model)
    : R_(model.noise()), std_(model.impl().first().noise_std()) {}

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
