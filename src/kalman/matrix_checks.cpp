#include "kalman/matrix_checks.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <charconv>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::kalman {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string entry_text(std::string_view name, int i, int j) {
  return std::string(name) + "[" + std::to_string(i) + "," + std::to_string(j) + "]";
}

// Six digits, for numbers that were computed.
std::string rounded_text(double value) {
  char text[32];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 6);
  return {text, end.ptr};
}

Eigen::Map<const RowMajor> as_eigen(const std::vector<double>& matrix, int n) {
  return {matrix.data(), n, n};
}

double largest(const std::vector<double>& matrix) {
  double value = 0;
  for (const double entry : matrix) value = std::max(value, std::abs(entry));
  return value;
}

}  // namespace

std::string number_text(double value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

void check_matrix(std::string_view name, const std::vector<double>& matrix, int rows, int cols) {
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  if (matrix.size() != size)
    throw ConfigError(std::string(name) + " has " + std::to_string(matrix.size()) +
                      " entries, but it must have " + std::to_string(size) + " (" +
                      std::to_string(rows) + " x " + std::to_string(cols) + ", row-major)");
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      const double value = matrix[static_cast<std::size_t>(i * cols + j)];
      if (!std::isfinite(value))
        throw ConfigError(entry_text(name, i, j) + " = " + number_text(value) +
                          ", but it must be finite");
    }
}

void check_symmetric(std::string_view name, const std::vector<double>& matrix, int n) {
  const auto M = as_eigen(matrix, n);
  const double tolerance = 1e-9 * largest(matrix);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (std::abs(M(i, j) - M(j, i)) > tolerance)
        throw ConfigError(entry_text(name, i, j) + " = " + number_text(M(i, j)) + " and " +
                          entry_text(name, j, i) + " = " + number_text(M(j, i)) + ", but " +
                          std::string(name) + " must be symmetric");
}

void check_positive_definite(std::string_view name, const std::vector<double>& matrix, int n,
                             std::string_view why) {
  const auto M = as_eigen(matrix, n);
  for (int i = 0; i < n; ++i)
    if (!(M(i, i) > 0))
      throw ConfigError(entry_text(name, i, i) + " = " + number_text(M(i, i)) +
                        ", but the diagonal of " + std::string(name) + " must be > 0 (" +
                        std::string(why) + ")");
  if (Eigen::LLT<Eigen::MatrixXd>(M).info() == Eigen::Success) return;
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(Eigen::MatrixXd(M), Eigen::EigenvaluesOnly)
          .eigenvalues();
  throw ConfigError(std::string(name) + " has the eigenvalue " + rounded_text(eigenvalues(0)) +
                    ", but it must be positive definite (" + std::string(why) + ")");
}

void check_positive_semidefinite(std::string_view name, const std::vector<double>& matrix, int n) {
  const auto M = as_eigen(matrix, n);
  for (int i = 0; i < n; ++i)
    if (M(i, i) < 0)
      throw ConfigError(entry_text(name, i, i) + " = " + number_text(M(i, i)) +
                        ", but the diagonal of a covariance must be >= 0");
  if (n == 0) return;
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(Eigen::MatrixXd(M), Eigen::EigenvaluesOnly)
          .eigenvalues();
  const double tolerance = 1e-9 * largest(matrix);
  if (eigenvalues(0) < -tolerance)
    throw ConfigError(std::string(name) + " has the eigenvalue " + rounded_text(eigenvalues(0)) +
                      ", but a covariance must be positive semi-definite");
}

}  // namespace kalmia::kalman
