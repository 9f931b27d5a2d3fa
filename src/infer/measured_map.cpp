#include "infer/measured_map.hpp"

#include <algorithm>
#include <cmath>

#include "infer/model_impl.hpp"

namespace kalmia::infer {
namespace {

// The rounding error of a sum, relative to the sum of its terms' absolute values.
constexpr double kRounding = 1e-9;

}  // namespace

MeasuredMap::MeasuredMap(const model::LearnedModel<float>& model) : model_(model) {
  if (model.expert().emission != nullptr) return;
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const model::Units& units = model.description().units;
  H_ = model.expert().H;
  offset_ = units.y_offset;
  // A state that is measured itself has its channel's unit and origin: 1 and 0 come out exactly.
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t n = 0; n < N; ++n) {
      double& entry = H_[m * N + n];
      if (entry == 0) continue;
      entry *= units.y_scale[m] / units.x_scale[n];
      offset_[m] -= entry * units.x_offset[n];
    }
}

void MeasuredMap::at(const double* x, double* y, double* H) const {
  const auto N = static_cast<std::size_t>(state_dim());
  const auto M = static_cast<std::size_t>(meas_dim());
  if (model_.expert().emission == nullptr) {
    for (std::size_t m = 0; m < M; ++m) {
      y[m] = offset_[m];
      for (std::size_t n = 0; n < N; ++n)
        if (H_[m * N + n] != 0) y[m] += H_[m * N + n] * x[n];
    }
    if (H != nullptr) std::copy(H_.begin(), H_.end(), H);
    return;
  }
  const model::Units& units = model_.description().units;
  std::vector<double> scaled(x, x + N);
  for (std::size_t n = 0; n < N; ++n)
    scaled[n] = (scaled[n] - units.x_offset[n]) / units.x_scale[n];
  model_.measure(scaled.data(), y);
  for (std::size_t m = 0; m < M; ++m) y[m] = units.y_offset[m] + units.y_scale[m] * y[m];
  if (H == nullptr) return;
  const std::vector<double> jacobian = model_.emission_at(scaled.data());
  for (std::size_t i = 0; i < jacobian.size(); ++i)
    H[i] = jacobian[i] * units.y_scale[i / N] / units.x_scale[i % N];
}

void MeasuredMap::moments(const double* x, const double* P, double* y, double* S) const {
  std::vector<double> H(static_cast<std::size_t>(state_dim() * meas_dim()));
  at(x, y, H.data());
  congruence(meas_dim(), state_dim(), H.data(), P, S);
}

void congruence(int rows, int dim, const double* G, const double* P, double* out) {
  const auto K = static_cast<std::size_t>(rows), N = static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < K; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0, size = 0;
      for (std::size_t a = 0; a < N; ++a) {
        if (G[i * N + a] == 0) continue;
        for (std::size_t b = 0; b < N; ++b) {
          if (G[j * N + b] == 0) continue;
          const double term = G[i * N + a] * P[a * N + b] * G[j * N + b];
          sum += term;
          size += std::abs(term);
        }
      }
      // Where the difference is zero in exact arithmetic, only rounding is left of it.
      if (i == j && sum < 0 && sum >= -kRounding * size) sum = 0;
      out[i * K + j] = out[j * K + i] = sum;
    }
}

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
