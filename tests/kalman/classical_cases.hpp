// Models and data for the tests of the classical filters, in the library's form and in the
// reference's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kalmia/classical.hpp"
#include "support/joint_posterior.hpp"
#include "support/lines.hpp"
#include "support/reference.hpp"

namespace kalmia::test {

inline std::vector<double> row_major(const Matrix& matrix) {
  std::vector<double> values;
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j) values.push_back(matrix(i, j));
  return values;
}

inline LinearModel linear_model(const reference::DenseSystem& s) {
  LinearModel model;
  model.state_dim = static_cast<int>(s.F.rows());
  model.meas_dim = static_cast<int>(s.H.rows());
  model.F = row_major(s.F);
  model.e = row_major(s.e);
  model.Q = row_major(s.Q);
  model.H = row_major(s.H);
  model.R = row_major(s.R);
  model.x0 = row_major(s.initial.mean);
  model.P0 = row_major(s.initial.cov);
  return model;
}
inline reference::System reference_system(const reference::DenseSystem& s) {
  return reference::linear_system(s.initial, s.F, s.e, s.Q, s.H, s.R);
}

/// A stable system with dense matrices.
inline reference::DenseSystem random_system(int N, int M, std::uint64_t seed) {
  RandomStream random(seed, "system", static_cast<std::uint64_t>(N));
  reference::DenseSystem s;
  s.F = 0.6 * Matrix::Identity(N, N) +
        0.3 / std::sqrt(static_cast<double>(N)) * random_matrix(random, N, N);
  s.e = random_matrix(random, N, 1);
  s.Q = 0.3 * random_covariance(random, N);
  s.H = random_matrix(random, M, N);
  s.R = random_covariance(random, M);
  s.initial = {random_matrix(random, N, 1), random_covariance(random, N)};
  return s;
}

/// Position, velocity and acceleration in two dimensions: the linear experiment of the paper
/// (Sec. 8.1 with A[3,2] = -tau, see docs/errata.md).
inline reference::DenseSystem linear_experiment() {
  const double c = 0.06, tau = 0.17;
  Matrix A = Matrix::Zero(3, 3);
  A << 0, 1, 0, 0, -c, 1, 0, -tau, 0;
  Matrix flow = Matrix::Identity(3, 3), term = flow;
  for (int i = 1; i < 30; ++i) {
    term = term * A / i;
    flow += term;
  }
  const Vector q = (Vector(3) << 0.01 / 3, 0.01, 0.03).finished();
  reference::DenseSystem s;
  s.F = Matrix::Zero(6, 6);
  s.Q = Matrix::Zero(6, 6);
  s.H = Matrix::Zero(2, 6);
  for (int axis = 0; axis < 2; ++axis) {
    s.F.block(3 * axis, 3 * axis, 3, 3) = flow;
    s.Q.block(3 * axis, 3 * axis, 3, 3) = q.asDiagonal();
    s.H(axis, 3 * axis) = 1;
  }
  s.e = Vector::Zero(6);
  s.R = 0.25 * Matrix::Identity(2, 2);
  s.initial = {Vector::Zero(6), Matrix::Identity(6, 6)};
  return s;
}

/// Series of measurements with their lengths.
struct Data {
  Data(int series_, int steps_, int meas_dim_, double missing, std::uint64_t seed)
      : series(series_), steps(steps_), meas_dim(meas_dim_) {
    RandomStream random(seed, "data");
    values.resize(static_cast<std::size_t>(series * steps * meas_dim));
    for (double& value : values) {
      const double draw = 2 * random.normal();
      value = random.uniform() < missing ? std::numeric_limits<double>::quiet_NaN() : draw;
    }
  }
  /// Lengths steps, steps - 1, ..., 0, steps, ... in a scrambled order.
  void vary_lengths() {
    for (int s = 0; s < series; ++s) lengths.push_back((s * 7 + 3) % (steps + 1));
  }
  int length(int s) const { return lengths.empty() ? steps : lengths[static_cast<std::size_t>(s)]; }
  MeasurementsView view() const { return {values.data(), series, steps, meas_dim, lengths}; }
  double& at(int s, int k, int m) {
    return values[static_cast<std::size_t>((s * steps + k) * meas_dim + m)];
  }
  std::vector<Vector> one(int s) const {
    std::vector<Vector> y;
    for (int k = 0; k < length(s); ++k)
      y.push_back(Eigen::Map<const Vector>(values.data() + (s * steps + k) * meas_dim, meas_dim));
    return y;
  }
  int series, steps, meas_dim;
  std::vector<double> values;
  std::vector<int> lengths;
};

/// Row (s, k) of an array, as a rows x cols matrix.
inline Matrix row_of(const Array& array, const FilterResult& result, int s, int k, int rows,
                     int cols) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::size_t width = static_cast<std::size_t>(rows * cols);
  const std::size_t at = (static_cast<std::size_t>(s) * static_cast<std::size_t>(result.steps) +
                          static_cast<std::size_t>(k)) *
                         width;
  return Eigen::Map<const RowMajor>(array.data() + at, rows, cols);
}

inline void expect_moments(const char* what, const Moments& moments, const FilterResult& result,
                           int s, const std::vector<reference::Gaussian>& expected,
                           double tolerance) {
  const int N = result.state_dim;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const int step = static_cast<int>(k);
    const Matrix mean = row_of(moments.mean, result, s, step, N, 1);
    const Matrix cov = row_of(moments.covariance, result, s, step, N, N);
    ASSERT_LE(difference(mean, expected[k].mean), tolerance)
        << what << " mean, series " << s << " step " << k;
    ASSERT_LE(difference(cov, expected[k].cov), tolerance)
        << what << " covariance, series " << s << " step " << k;
    ASSERT_EQ(cov, cov.transpose()) << what << " covariance, series " << s << " step " << k;
  }
  for (int k = static_cast<int>(expected.size()); k < result.steps; ++k)
    ASSERT_TRUE(row_of(moments.mean, result, s, k, N, 1).array().isNaN().all())
        << what << " beyond the end of series " << s;
}

/// Every array of the result, for series s, against a run of the reference.
inline void expect_run(const FilterResult& result, int s, const reference::Run& run,
                       double tolerance = 1e-11) {
  expect_moments("predicted", result.predicted, result, s, run.predicted, tolerance);
  expect_moments("filtered", result.filtered, result, s, run.filtered, tolerance);
  if (!run.smoothed.empty())
    expect_moments("smoothed", result.smoothed, result, s, run.smoothed, tolerance);
  for (std::size_t k = 0; k < run.innovations.size(); ++k)
    for (int m = 0; m < result.meas_dim; ++m) {
      const double found =
          row_of(result.innovations, result, s, static_cast<int>(k), result.meas_dim, 1)(m);
      const double expected = run.innovations[k](m);
      ASSERT_EQ(std::isnan(found), std::isnan(expected));
      if (std::isnan(expected)) continue;
      ASSERT_NEAR(found, expected, tolerance * std::max(1.0, std::abs(expected)));
    }
  const double found = result.log_likelihood[static_cast<std::size_t>(s)];
  ASSERT_NEAR(found, run.log_likelihood, tolerance * std::max(1.0, std::abs(run.log_likelihood)));
}

inline bool same_bits(const Array& a, const Array& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}
inline void expect_same_bits(const FilterResult& a, const FilterResult& b) {
  EXPECT_TRUE(same_bits(a.predicted.mean, b.predicted.mean));
  EXPECT_TRUE(same_bits(a.predicted.covariance, b.predicted.covariance));
  EXPECT_TRUE(same_bits(a.filtered.mean, b.filtered.mean));
  EXPECT_TRUE(same_bits(a.filtered.covariance, b.filtered.covariance));
  EXPECT_TRUE(same_bits(a.smoothed.mean, b.smoothed.mean));
  EXPECT_TRUE(same_bits(a.smoothed.covariance, b.smoothed.covariance));
  EXPECT_TRUE(same_bits(a.innovations, b.innovations));
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
}

/// Text of the exception of type E that f throws.
template <typename E, typename Function>
std::string message_of(Function f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace kalmia::test
