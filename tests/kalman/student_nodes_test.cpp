#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kalman/student.hpp"

namespace kalmia::kalman {
namespace {

double density(const StudentNodes& nodes, double z) {
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(nodes.count); ++k)
    sum += std::exp(nodes.log_share[k] - 0.5 * nodes.weight[k] * z * z) / nodes.scale[k];
  return sum / std::sqrt(2 * std::numbers::pi);
}

double student(double nu, double z) {
  return std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) -
                  0.5 * std::log(nu * std::numbers::pi) - 0.5 * (nu + 1) * std::log1p(z * z / nu));
}

TEST(StudentNodes, AreSharesOfGaussians) {
  for (const double nu : {1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 50.0, 200.0, 1e6, 1e13}) {
    const StudentNodes nodes(nu);
    ASSERT_GT(nodes.count, 1) << nu;
    ASSERT_LE(nodes.count, StudentNodes::kMost) << nu;
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(nodes.count); ++k) {
      sum += std::exp(nodes.log_share[k]);
      EXPECT_NEAR(nodes.weight[k] * nodes.scale[k] * nodes.scale[k], 1, 1e-12) << nu;
    }
    EXPECT_NEAR(sum, 1, 1e-12) << nu;
  }
}

TEST(StudentNodes, AreStudentsDistribution) {
  for (const double nu : {1.0, 2.0, 3.0, 10.0, 200.0})
    for (const double z : {0.0, 0.3, 1.0, 2.0, 4.0, 6.0})
      EXPECT_NEAR(density(StudentNodes(nu), z) / student(nu, z), 1, 1e-4) << nu << ", " << z;
  for (const double z : {20.0, 100.0, 1000.0})
    EXPECT_NEAR(density(StudentNodes(3), z) / student(3, z), 1, 1e-4) << z;
}

}  // namespace
}  // namespace kalmia::kalman
