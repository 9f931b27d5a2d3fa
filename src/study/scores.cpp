#include "study/scores.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace kalmia::study {

std::optional<NormalisedSquare> normalised_square(std::span<const double> error,
                                                  std::span<const double> covariance) {
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < error.size(); ++i)
    if (!std::isnan(error[i])) seen.push_back(i);
  if (seen.empty()) return NormalisedSquare{};
  const auto n = static_cast<Eigen::Index>(seen.size());
  Eigen::VectorXd e(n);
  Eigen::MatrixXd C(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    e(i) = error[seen[static_cast<std::size_t>(i)]];
    for (Eigen::Index j = 0; j < n; ++j)
      C(i, j) = covariance[seen[static_cast<std::size_t>(i)] * error.size() +
                           seen[static_cast<std::size_t>(j)]];
  }
  const Eigen::LLT<Eigen::MatrixXd> chol(C);
  if (chol.info() != Eigen::Success) return std::nullopt;
  // |L^-1 e|^2 with C = L L'.
  return NormalisedSquare{chol.matrixL().solve(e).squaredNorm(), seen.size()};
}

double within_95(double error, double variance) {
  if (std::isnan(error)) return error;
  return std::abs(error) <= kDeviations95 * std::sqrt(variance) ? 1 : 0;
}

std::vector<double> interpolate_gaps(std::span<const double> values, std::span<const double> t) {
  std::vector<double> filled(values.begin(), values.end());
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const auto time = [&](std::size_t k) { return t.empty() ? static_cast<double>(k) : t[k]; };
  std::size_t left = kNone;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k])) continue;
    if (left == kNone) {
      std::fill_n(filled.begin(), k, values[k]);
    } else {
      const double span = time(k) - time(left);
      for (std::size_t i = left + 1; i < k; ++i) {
        // Steps at one and the same time have no line between them: halfway.
        const double part = span > 0 ? (time(i) - time(left)) / span : 0.5;
        filled[i] = values[left] + part * (values[k] - values[left]);
      }
    }
    left = k;
  }
  if (left != kNone)
    std::fill(filled.begin() + static_cast<std::ptrdiff_t>(left), filled.end(), values[left]);
  return filled;
}

}  // namespace kalmia::study
