#include "kalman/matrix_checks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::kalman {
namespace {

template <typename Check>
std::string check_message(const Check& check) {
  try {
    check();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MatrixChecks, NumbersReadBackAsTheyWere) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(20), "20");
  EXPECT_EQ(std::stod(number_text(1.0 / 3)), 1.0 / 3);
}

TEST(MatrixChecks, SizeAndFiniteEntries) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(check_message([] { check_matrix("F", {1, 2, 3, 4, 5, 6}, 2, 3); }), "accepted");
  EXPECT_EQ(check_message([] {
              check_matrix("F", {1, 2, 3}, 2, 2);
            }),
            "F has 3 entries, but it must have 4 (2 x 2, row-major)");
  EXPECT_EQ(check_message([&] {
              check_matrix("F", {1, 2, 3, 4, inf, 6}, 2, 3);
            }),
            "F[1,1] = inf, but it must be finite");
}

TEST(MatrixChecks, SymmetryUpToRoundingOfTheLargestEntry) {
  EXPECT_EQ(check_message([] { check_symmetric("P", {1e6, 1e-4, 0, 1}, 2); }), "accepted");
  EXPECT_EQ(check_message([] {
              check_symmetric("P", {1e6, 2, 1, 1}, 2);
            }),
            "P[1,0] = 1 and P[0,1] = 2, but P must be symmetric");
}

TEST(MatrixChecks, PositiveDefiniteWithTheReason) {
  const auto check = [](const std::vector<double>& R) {
    return check_message([&] { check_positive_definite("R", R, 2, "noise is never zero"); });
  };
  EXPECT_EQ(check({2, 1, 1, 2}), "accepted");
  EXPECT_EQ(check({1, 0, 0, 0}),
            "R[1,1] = 0, but the diagonal of R must be > 0 (noise is never zero)");
  EXPECT_EQ(check({1, 2, 2, 1}),
            "R has the eigenvalue -1, but it must be positive definite (noise is never zero)");
}

TEST(MatrixChecks, PositiveSemidefiniteUpToRounding) {
  const auto check = [](const std::vector<double>& P) {
    return check_message([&] { check_positive_semidefinite("P0", P, 2); });
  };
  EXPECT_EQ(check({1, 1, 1, 1}), "accepted");
  EXPECT_EQ(check({0, 0, 0, 0}), "accepted");
  EXPECT_EQ(check({-1, 0, 0, 1}), "P0[0,0] = -1, but the diagonal of a covariance must be >= 0");
  EXPECT_EQ(check({1, 2, 2, 1}),
            "P0 has the eigenvalue -1, but a covariance must be positive semi-definite");
  EXPECT_EQ(check_message([] { check_positive_semidefinite("P0", {}, 0); }), "accepted");
}

}  // namespace
}  // namespace kalmia::kalman
