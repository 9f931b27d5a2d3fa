#include "reproduce/supervised_noise.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kalmia/error.hpp"
#include "train/bfgs.hpp"

namespace kalmia::reproduction {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Relative to the largest variance: keeps the covariance of residuals that are nearly zero, or
// that a short trajectory leaves singular, positive definite.
constexpr double kFloor = 1e-6;
// Of central differences in the entries of L, which are of order 1.
constexpr double kDifference = 1e-3;

std::vector<double> entries(const Matrix& Q) { return {Q.data(), Q.data() + Q.size()}; }

// L: exponentials on the diagonal.
Matrix factor(std::span<const double> v, Eigen::Index N) {
  Matrix L = Matrix::Zero(N, N);
  std::size_t next = 0;
  for (Eigen::Index i = 0; i < N; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double value = v[next++];
      L(i, j) = i == j ? std::exp(value) : value;
    }
  return L;
}

double finite_or_infinite(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<double> residual_covariance(
    std::span<const double> x, int N,
    const std::function<void(std::span<const double>, std::span<double>)>& f) {
  const auto n = static_cast<std::size_t>(N);
  const std::size_t steps = x.size() / n;
  if (steps < 2) throw DataError("a clean trajectory needs at least 2 steps to tune a covariance");
  std::vector<double> next(n), Q(n * n, 0.0);
  for (std::size_t k = 0; k + 1 < steps; ++k) {
    f(x.subspan(k * n, n), next);
    for (std::size_t i = 0; i < n; ++i) next[i] = x[(k + 1) * n + i] - next[i];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) Q[i * n + j] += next[i] * next[j];
  }
  for (double& each : Q) each /= static_cast<double>(steps - 1);
  return Q;
}

std::vector<double> tune_process_noise(const std::vector<double>& start, int N,
                                       const NoiseError& error) {
  const Matrix given = Eigen::Map<const Matrix>(start.data(), N, N);
  const double floor = kFloor * given.diagonal().maxCoeff() + std::numeric_limits<double>::min();
  const Matrix residual = given + floor * Matrix::Identity(N, N);
  Matrix best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Matrix& Q) {
    const double value = error(entries(Q));
    if (value < least) {
      least = value;
      best = Q;
    }
  };
  for (const double factor_of : {0.1, 1.0, 10.0}) consider(factor_of * residual);
  for (double variance = 1e-6; variance < 20; variance *= 10)
    consider(variance * Matrix::Identity(N, N));
  if (!std::isfinite(least))
    throw NumericalError("no process noise that was tried lets the filter run");

  const Matrix C = Eigen::LLT<Matrix>(best).matrixL();
  const auto covariance = [&](std::span<const double> v) {
    const Matrix root = C * factor(v, N);
    return entries(root * root.transpose());
  };
  const auto objective = [&](std::span<const double> v, std::span<double> gradient) {
    std::vector<double> moved(v.begin(), v.end());
    for (std::size_t i = 0; i < v.size(); ++i) {
      moved[i] = v[i] + kDifference;
      const double above = finite_or_infinite(error(covariance(moved)));
      moved[i] = v[i] - kDifference;
      const double below = finite_or_infinite(error(covariance(moved)));
      moved[i] = v[i];
      gradient[i] = (above - below) / (2 * kDifference);
      if (!std::isfinite(gradient[i])) return std::numeric_limits<double>::infinity();
    }
    return finite_or_infinite(error(covariance(v)));
  };
  std::vector<double> v(static_cast<std::size_t>(N * (N + 1) / 2), 0.0);
  train::BfgsOptions options;
  options.max_iterations = 40;
  options.gradient_tolerance = 1e-5 * least;
  options.value_tolerance = 1e-5;
  try {
    train::minimise_bfgs(objective, v, options);
  } catch (const NumericalError&) {
    return entries(best);
  }
  return covariance(v);
}

}  // namespace kalmia::reproduction
