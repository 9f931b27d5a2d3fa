#include "reproduce/smoother_check.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace kalmia::reproduction {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Matrix matrix(const std::vector<double>& values, int rows, int columns) {
  return Eigen::Map<const Matrix>(values.data(), rows, columns);
}

Vector vector_or_zero(const std::vector<double>& values, int size) {
  if (values.empty()) return Vector::Zero(size);
  return Eigen::Map<const Vector>(values.data(), size);
}

Matrix inverse(const Matrix& covariance) {
  return covariance.llt().solve(Matrix::Identity(covariance.rows(), covariance.cols()));
}

}  // namespace

ReproduceSmootherCheck check_linearized_smoother(const LinearModel& model, const double* y,
                                                 int steps) {
  const int N = model.state_dim, M = model.meas_dim;
  const Matrix F = matrix(model.F, N, N), H = matrix(model.H, M, N);
  const Vector e = vector_or_zero(model.e, N), x0 = vector_or_zero(model.x0, N);
  const Matrix Q_inverse = inverse(matrix(model.Q, N, N)),
               R_inverse = inverse(matrix(model.R, M, M)),
               P0_inverse = inverse(matrix(model.P0, N, N));
  // Precision and the right-hand side of the whole path.
  Matrix precision = Matrix::Zero(N * steps, N * steps);
  Vector right = Vector::Zero(N * steps);
  precision.topLeftCorner(N, N) = P0_inverse;
  right.head(N) = P0_inverse * x0;
  for (int k = 0; k < steps; ++k) {
    const Eigen::Map<const Vector> y_k(y + k * M, M);
    precision.block(k * N, k * N, N, N) += H.transpose() * R_inverse * H;
    right.segment(k * N, N) += H.transpose() * R_inverse * y_k;
    if (k == 0) continue;
    precision.block((k - 1) * N, (k - 1) * N, N, N) += F.transpose() * Q_inverse * F;
    precision.block((k - 1) * N, k * N, N, N) -= F.transpose() * Q_inverse;
    precision.block(k * N, (k - 1) * N, N, N) -= Q_inverse * F;
    precision.block(k * N, k * N, N, N) += Q_inverse;
    right.segment((k - 1) * N, N) -= F.transpose() * Q_inverse * e;
    right.segment(k * N, N) += Q_inverse * e;
  }
  const Matrix covariance = inverse(precision);
  const Vector mean = covariance * right;

  const FilterResult smoothed = rts_smoother(model, {y, 1, steps, M});
  ReproduceSmootherCheck check;
  check.steps = steps;
  for (int i = 0; i < N * steps; ++i) {
    const double variance = covariance(i, i);
    const auto at = static_cast<std::size_t>(i);
    const auto entry = static_cast<std::size_t>((i / N) * N * N + (i % N) * (N + 1));
    check.mean_difference =
        std::max(check.mean_difference,
                 std::abs(smoothed.smoothed.mean[at] - mean[i]) / std::sqrt(variance));
    check.variance_difference =
        std::max(check.variance_difference,
                 std::abs(smoothed.smoothed.covariance[entry] - variance) / variance);
  }
  return check;
}

}  // namespace kalmia::reproduction
