// An oracle that shares no formula with a filter: the joint posterior of all states of a linear
// Gaussian system as one dense Gaussian. The log-density of all states and measurements is a
// quadratic form; its matrix is assembled term by term, and solved.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "support/reference.hpp"

namespace kalmia::reference {

/// A linear Gaussian system with constant matrices; Q and P0 must be invertible here.
struct DenseSystem {
  Matrix F;
  Vector e;
  Matrix Q, H, R;
  Gaussian initial;
};

/// Marginals of x[0..count-1] given y[0..count-1] (NaN = missing), from the joint precision:
///
///   (x0 - m)' P0^-1 (x0 - m) + sum_k (x[k] - F x[k-1] - e)' Q^-1 (...) + sum_k (y - H x)' R^-1
///   (...)
///
/// where a step's R^-1 is that of its observed components.
inline std::vector<Gaussian> joint_posterior(const DenseSystem& s, const std::vector<Vector>& y,
                                             std::size_t count) {
  const Eigen::Index n = s.F.rows();
  const Eigen::Index size = n * static_cast<Eigen::Index>(count);
  Matrix precision = Matrix::Zero(size, size);
  Vector information = Vector::Zero(size);
  // Adds (A x - b)' W (A x - b) to the quadratic form.
  const auto add = [&](const Matrix& A, const Vector& b, const Matrix& W) {
    precision += A.transpose() * W * A;
    information += A.transpose() * W * b;
  };
  for (std::size_t k = 0; k < count; ++k) {
    const Eigen::Index at = n * static_cast<Eigen::Index>(k);
    Matrix A = Matrix::Zero(n, size);
    A.middleCols(at, n).setIdentity();
    if (k == 0) {
      add(A, s.initial.mean, s.initial.cov.inverse());
    } else {
      A.middleCols(at - n, n) = -s.F;
      add(A, s.e, s.Q.inverse());
    }
    const std::vector<int> rows = observed_components(y[k]);
    if (rows.empty()) continue;
    Matrix B = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), size);
    B.middleCols(at, n) = s.H(rows, Eigen::all);
    add(B, y[k](rows), s.R(rows, rows).inverse());
  }
  const Matrix covariance = precision.inverse();
  const Vector mean = covariance * information;
  std::vector<Gaussian> marginals;
  for (std::size_t k = 0; k < count; ++k) {
    const Eigen::Index at = n * static_cast<Eigen::Index>(k);
    marginals.push_back({mean.segment(at, n), covariance.block(at, at, n, n)});
  }
  return marginals;
}

/// x[k] given all measurements.
inline std::vector<Gaussian> joint_smoothed(const DenseSystem& s, const std::vector<Vector>& y) {
  return joint_posterior(s, y, y.size());
}

/// x[k] given the measurements up to and including k.
inline std::vector<Gaussian> joint_filtered(const DenseSystem& s, const std::vector<Vector>& y) {
  std::vector<Gaussian> marginals;
  for (std::size_t k = 0; k < y.size(); ++k)
    marginals.push_back(joint_posterior(s, y, k + 1).back());
  return marginals;
}

/// Log-density of all observed components at once, from their dense covariance.
inline double joint_log_likelihood(const DenseSystem& s, const std::vector<Vector>& y) {
  const Eigen::Index n = s.F.rows(), m = s.H.rows();
  const Eigen::Index count = static_cast<Eigen::Index>(y.size());
  // x = T (noise) + mean, with T block lower triangular: T[i, j] = F^(i-j).
  Matrix T = Matrix::Zero(n * count, n * count), noise = T;
  Vector mean(n * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    T.block(i * n, i * n, n, n).setIdentity();
    noise.block(i * n, i * n, n, n) = i == 0 ? s.initial.cov : s.Q;
    if (i == 0) {
      mean.head(n) = s.initial.mean;
      continue;
    }
    T.block(i * n, 0, n, i * n) = s.F * T.block((i - 1) * n, 0, n, i * n);
    mean.segment(i * n, n) = s.F * mean.segment((i - 1) * n, n) + s.e;
  }
  Matrix H = Matrix::Zero(m * count, n * count), R = Matrix::Zero(m * count, m * count);
  Vector all(m * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    H.block(i * m, i * n, m, n) = s.H;
    R.block(i * m, i * m, m, m) = s.R;
    all.segment(i * m, m) = y[static_cast<std::size_t>(i)];
  }
  const std::vector<int> rows = observed_components(all);
  if (rows.empty()) return 0;
  const Matrix covariance = (H * T * noise * T.transpose() * H.transpose() + R)(rows, rows);
  const Vector residual = (all - H * mean)(rows);
  const Eigen::LLT<Matrix> chol(covariance);
  const Matrix C = chol.matrixL();
  return -0.5 * (residual.dot(chol.solve(residual)) + 2 * C.diagonal().array().log().sum() +
                 static_cast<double>(rows.size()) * std::log(2 * std::numbers::pi));
}

/// Iterates Gauss and Newton's method for the most likely trajectory of a nonlinear system, all of
/// its states in one dense vector, from `trajectory`: minimises
///
///   |x[0] - m|^2 / P0 + sum_k |x[k] - f(x[k-1])|^2 / Q + sum_k |y[k] - h(x[k])|^2 / R[k].
///
/// The marginals have the means that it ends at and the covariance of the last step.
inline std::vector<Gaussian> most_likely_trajectory(const System& s, const std::vector<Vector>& y,
                                                    const std::vector<Matrix>& R,
                                                    std::vector<Vector> trajectory,
                                                    int iterations) {
  const Eigen::Index n = s.initial.mean.size();
  const Eigen::Index size = n * static_cast<Eigen::Index>(y.size());
  std::vector<Gaussian> marginals(y.size());
  for (int i = 0; i < iterations; ++i) {
    Matrix precision = Matrix::Zero(size, size);
    Vector information = Vector::Zero(size);
    const auto add = [&](const Matrix& A, const Vector& b, const Matrix& W) {
      precision += A.transpose() * W * A;
      information += A.transpose() * W * b;
    };
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Eigen::Index at = n * static_cast<Eigen::Index>(k);
      Step step;
      Matrix A = Matrix::Zero(n, size);
      A.middleCols(at, n).setIdentity();
      if (k == 0) {
        add(A, s.initial.mean, s.initial.cov.inverse());
      } else {
        s.transition(trajectory[k - 1], static_cast<int>(k), step);
        A.middleCols(at - n, n) = -step.F;
        add(A, step.e, s.Q.inverse());
      }
      const std::vector<int> rows = observed_components(y[k]);
      if (rows.empty()) continue;
      s.emission(trajectory[k], static_cast<int>(k), step);
      Matrix B = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), size);
      B.middleCols(at, n) = step.H(rows, Eigen::all);
      add(B, (y[k] - step.offset)(rows), Matrix(R[k](rows, rows)).inverse());
    }
    const Matrix covariance = precision.inverse();
    const Vector mean = covariance * information;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Eigen::Index at = n * static_cast<Eigen::Index>(k);
      trajectory[k] = mean.segment(at, n);
      marginals[k] = {trajectory[k], covariance.block(at, at, n, n)};
    }
  }
  return marginals;
}

}  // namespace kalmia::reference
