// Line matrices for tests: filled from and read back as Eigen matrices, lane by lane.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>

#include "base/buffer.hpp"
#include "base/random.hpp"
#include "lanes/panel.hpp"

namespace kalmia::test {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// A rows x cols matrix per lane, as the kernels see it.
template <typename T>
class Lines {
 public:
  static constexpr int kLanes = lanes::kLineLanes<T>;

  Lines(int rows, int cols)
      : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows * cols * kLanes)) {}

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  std::span<T> span() { return data_.span(); }
  std::span<const T> span() const { return data_.span(); }

  T& at(int i, int j, int lane) {
    return data_[static_cast<std::size_t>((i * cols_ + j) * kLanes + lane)];
  }
  T at(int i, int j, int lane) const {
    return data_[static_cast<std::size_t>((i * cols_ + j) * kLanes + lane)];
  }
  void set(int lane, const Matrix& matrix) {
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < cols_; ++j) at(i, j, lane) = static_cast<T>(matrix(i, j));
  }
  Matrix get(int lane) const {
    Matrix matrix(rows_, cols_);
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < cols_; ++j) matrix(i, j) = static_cast<double>(at(i, j, lane));
    return matrix;
  }

 private:
  int rows_;
  int cols_;
  Buffer<T> data_;
};

/// A packed lower triangle per lane.
template <typename T>
class TriangleLines : public Lines<T> {
 public:
  explicit TriangleLines(int n) : Lines<T>(lanes::triangle_size(n), 1), n_(n) {}
  void set_lower(int lane, const Matrix& matrix) {
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j <= i; ++j)
        this->at(lanes::triangle_index(i, j), 0, lane) = static_cast<T>(matrix(i, j));
  }
  Matrix get_lower(int lane) const {
    Matrix matrix = Matrix::Zero(n_, n_);
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j <= i; ++j)
        matrix(i, j) = static_cast<double>(this->at(lanes::triangle_index(i, j), 0, lane));
    return matrix;
  }

 private:
  int n_;
};

inline Matrix random_matrix(RandomStream& random, int rows, int cols) {
  Matrix matrix(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) matrix(i, j) = random.normal();
  return matrix;
}
/// A A' / n + I: well conditioned, and its neighbours stay positive definite.
inline Matrix random_covariance(RandomStream& random, int n) {
  const Matrix A = random_matrix(random, n, n);
  return A * A.transpose() / n + Matrix::Identity(n, n);
}
inline Matrix random_symmetric(RandomStream& random, int n) {
  const Matrix A = random_matrix(random, n, n);
  return 0.5 * (A + A.transpose());
}
inline Matrix random_lower(RandomStream& random, int n) {
  Matrix L = random_matrix(random, n, n).triangularView<Eigen::Lower>();
  for (int i = 0; i < n; ++i) L(i, i) = 1 + std::abs(L(i, i));
  return L / std::sqrt(static_cast<double>(n));
}

/// Fills every lane with its own draw.
template <typename T, typename Draw>
void fill(Lines<T>& lines, Draw draw) {
  for (int lane = 0; lane < Lines<T>::kLanes; ++lane) lines.set(lane, draw());
}

/// Rounding allowed in results that sum `terms` products of numbers of order one.
template <typename T>
double rounding(int terms) {
  return 32 * std::sqrt(static_cast<double>(terms + 1)) *
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Largest difference of entries, relative to the largest entry (at least 1). NaN is a difference
/// of infinity.
inline double difference(const Matrix& a, const Matrix& b) {
  if (a.size() == 0) return 0;
  const double scale = std::max(1.0, b.cwiseAbs().maxCoeff());
  const Matrix d = (a - b).cwiseAbs();
  return d.allFinite() ? d.maxCoeff() / scale : std::numeric_limits<double>::infinity();
}

}  // namespace kalmia::test
