#include "train/variables.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "lanes/panel.hpp"

namespace kalmia::train {

BoundedVariable::BoundedVariable(const Parameter& parameter, double at)
    : lower_(parameter.lower), upper_(parameter.upper), centre_(parameter.value) {
  const bool above = std::isfinite(lower_), below = std::isfinite(upper_);
  kind_ = above && below ? Kind::Between : above ? Kind::Above : below ? Kind::Below : Kind::Free;
  scale_ = kind_ == Kind::Above   ? centre_ - lower_
           : kind_ == Kind::Below ? upper_ - centre_
           : centre_ != 0         ? std::abs(centre_)
                                  : 1;
  // A bound itself is infinitely far away.
  constexpr double kMost = 30;
  const double start = kind_ == Kind::Between ? std::log((at - lower_) / (upper_ - at))
                       : kind_ == Kind::Above ? std::log((at - lower_) / scale_)
                       : kind_ == Kind::Below ? std::log((upper_ - at) / scale_)
                                              : (at - centre_) / scale_;
  start_ = kind_ == Kind::Free ? start : std::clamp(start, -kMost, kMost);
}

double BoundedVariable::value(double v) const {
  switch (kind_) {
    case Kind::Between:
      return lower_ + (upper_ - lower_) / (1 + std::exp(-v));
    case Kind::Above:
      return lower_ + scale_ * std::exp(v);
    case Kind::Below:
      return upper_ - scale_ * std::exp(v);
    case Kind::Free:
      break;
  }
  return centre_ + scale_ * v;
}

double BoundedVariable::slope(double v) const {
  switch (kind_) {
    case Kind::Between: {
      const double share = 1 / (1 + std::exp(-v));
      return (upper_ - lower_) * share * (1 - share);
    }
    case Kind::Above:
      return scale_ * std::exp(v);
    case Kind::Below:
      return -scale_ * std::exp(v);
    case Kind::Free:
      break;
  }
  return scale_;
}

bool is_near_bound(const Parameter& parameter, double value) {
  constexpr double kShare = 1e-3;
  const double range = std::min(parameter.upper - parameter.lower, 2 * std::abs(parameter.value));
  return std::min(value - parameter.lower, parameter.upper - value) <= kShare * range;
}

NoiseFactor::NoiseFactor(model::NoiseSpec::Kind kind, int meas_dim, std::vector<double> floor)
    : meas_dim_(meas_dim),
      full_(kind == model::NoiseSpec::Kind::LearnFull),
      size_(kind == model::NoiseSpec::Kind::Given ? 0
            : full_                               ? lanes::triangle_size(meas_dim_)
                                                  : meas_dim_),
      floor_(std::move(floor)) {
  if (full_) return;
  for (std::size_t i = 0; i < floor_.size(); ++i)
    if (i % static_cast<std::size_t>(meas_dim_ + 1) != 0) floor_[i] = 0;
}

std::vector<double> NoiseFactor::start(std::span<const double> R) const {
  std::vector<double> variables(static_cast<std::size_t>(size_));
  if (size_ == 0) return variables;
  const Eigen::Map<const Eigen::MatrixXd> wanted(R.data(), meas_dim_, meas_dim_);
  const Eigen::Map<const Eigen::MatrixXd> floor(floor_.data(), meas_dim_, meas_dim_);
  const Eigen::VectorXd least = 0.1 * floor.diagonal();
  Eigen::MatrixXd rest = wanted - floor;
  rest.diagonal() = rest.diagonal().cwiseMax(least);
  Eigen::MatrixXd C = rest.diagonal().cwiseSqrt().asDiagonal();
  if (full_) {
    for (double correlation = 1; correlation > 1e-3; correlation *= 0.7) {
      Eigen::MatrixXd tried = correlation * rest;
      tried.diagonal() = rest.diagonal();
      const Eigen::LLT<Eigen::MatrixXd> factor(tried);
      if (factor.info() != Eigen::Success) continue;
      C = factor.matrixL();
      break;
    }
  }
  for (int i = 0; i < meas_dim_; ++i)
    for (int j = full_ ? 0 : i; j <= i; ++j)
      variables[static_cast<std::size_t>(full_ ? lanes::triangle_index(i, j) : i)] =
          i == j ? std::log(C(i, i)) : C(i, j);
  return variables;
}

std::vector<double> NoiseFactor::sizes(std::span<const double> variables) const {
  std::vector<double> sizes(static_cast<std::size_t>(size_), 1.0);
  if (!full_) return sizes;
  for (int i = 0; i < meas_dim_; ++i)
    for (int j = 0; j < i; ++j)
      sizes[static_cast<std::size_t>(lanes::triangle_index(i, j))] =
          std::exp(variables[static_cast<std::size_t>(lanes::triangle_index(i, i))]);
  return sizes;
}

std::vector<double> NoiseFactor::factor(std::span<const double> variables) const {
  const auto M = static_cast<std::size_t>(meas_dim_);
  std::vector<double> C(M * M);
  for (int i = 0; i < meas_dim_; ++i)
    for (int j = full_ ? 0 : i; j <= i; ++j) {
      const double v = variables[static_cast<std::size_t>(full_ ? lanes::triangle_index(i, j) : i)];
      C[static_cast<std::size_t>(i) * M + static_cast<std::size_t>(j)] = i == j ? std::exp(v) : v;
    }
  return C;
}

std::vector<double> NoiseFactor::value(std::span<const double> variables) const {
  const auto M = static_cast<std::size_t>(meas_dim_);
  const std::vector<double> C = factor(variables);
  std::vector<double> R(M * M);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < M; ++j) {
      for (std::size_t p = 0; p <= std::min(i, j); ++p) R[i * M + j] += C[i * M + p] * C[j * M + p];
      R[i * M + j] += floor_[i * M + j];
    }
  return R;
}

bool NoiseFactor::leave_floor(std::span<double> variables) const {
  bool any = false;
  for (int m = 0; m < meas_dim_ && size_ > 0; ++m) {
    double& v = variables[static_cast<std::size_t>(full_ ? lanes::triangle_index(m, m) : m)];
    const double floor = floor_[static_cast<std::size_t>(m * (meas_dim_ + 1))];
    if (!(std::exp(2 * v) < 0.02 * floor)) continue;
    v = 0.5 * std::log(0.5 * floor);
    any = true;
  }
  return any;
}

// d_C = 2 d_R C on and below the diagonal; the diagonal goes through the exponential.
std::vector<double> NoiseFactor::gradient(std::span<const double> variables,
                                          std::span<const double> d_R) const {
  if (size_ == 0) return {};
  const auto M = static_cast<std::size_t>(meas_dim_);
  const std::vector<double> C = factor(variables);
  std::vector<double> result(static_cast<std::size_t>(size_));
  for (int i = 0; i < meas_dim_; ++i)
    for (int j = full_ ? 0 : i; j <= i; ++j) {
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      double d_C = 0;
      for (std::size_t p = 0; p < M; ++p) d_C += 2 * d_R[row * M + p] * C[p * M + column];
      result[static_cast<std::size_t>(full_ ? lanes::triangle_index(i, j) : i)] =
          i == j ? d_C * C[row * M + row] : d_C;
    }
  return result;
}

}  // namespace kalmia::train
