// The density of an innovation under Student-t noise as its definition says, without sparing
// anything: what kalman/student_density-inl.h is compared with.
#pragma once

#include <cmath>
#include <vector>

#include "kalman/student.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

/// -2 log p(r) without log 2 pi, of the components of r that are not NaN.
inline double student_nll(const kalman::StudentNodes& nodes, const Vector& r, const Matrix& B,
                          const Matrix& R) {
  std::vector<int> before;
  Vector w = Vector::Ones(r.size());
  double nll = 0;
  for (int i = 0; i < r.size(); ++i) {
    if (std::isnan(r(i))) continue;
    const Matrix D = w.cwiseSqrt().cwiseInverse().asDiagonal();
    const Matrix S = Matrix(B + D * R * D)(before, before);
    double density = 0, weight = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(nodes.count); ++k) {
      Vector s(static_cast<Eigen::Index>(before.size()));
      for (std::size_t j = 0; j < before.size(); ++j)
        s(static_cast<Eigen::Index>(j)) =
            B(i, before[j]) + R(i, before[j]) / std::sqrt(nodes.weight[k] * w(before[j]));
      double mean = 0, variance = B(i, i) + R(i, i) / nodes.weight[k];
      if (!before.empty()) {
        const Vector gain = S.ldlt().solve(s);
        mean = gain.dot(Vector(r(before)));
        variance -= gain.dot(s);
      }
      const double u = r(i) - mean;
      const double part =
          std::exp(nodes.log_share[k] - 0.5 * u * u / variance) / std::sqrt(variance);
      density += part;
      weight += part * nodes.weight[k];
    }
    w(i) = weight / density;
    nll -= 2 * std::log(density);
    before.push_back(i);
  }
  return nll;
}

}  // namespace kalmia::test
