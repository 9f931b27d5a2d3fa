#include "kalman/emission.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::kalman {
namespace {

std::string message(int N, int M, std::vector<double> H, std::vector<double> R) {
  try {
    const Emission emission(N, M, std::move(H), std::move(R));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Emission, KeepsOnlyTheNonZeroEntriesOfEachRow) {
  const Emission emission(3, 2, {0, 2, 0, 1, 0, -1}, {1, 0, 0, 1});
  const EmissionView view = emission.view();
  ASSERT_EQ(view.row_begin[0], 0);
  ASSERT_EQ(view.row_begin[1], 1);
  ASSERT_EQ(view.row_begin[2], 3);
  EXPECT_EQ(view.col[0], 1);
  EXPECT_EQ(view.value[0], 2);
  EXPECT_EQ(view.col[2], 2);
  EXPECT_EQ(view.value[2], -1);
}

TEST(Emission, ErrorsNameTheMatrixTheEntryTheValueAndTheRule) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message(2, 1, {1}, {1}), "H has 1 entries, but it must have 2 (1 x 2, row-major)");
  EXPECT_EQ(message(2, 1, {1, nan}, {1}), "H[0,1] = nan, but it must be finite");
  EXPECT_EQ(message(2, 2, {1, 0, 0, 1}, {1, 0, 0, 0}),
            "R[1,1] = 0, but the diagonal of R must be > 0 (a measurement without noise makes the "
            "innovation covariance singular)");
  EXPECT_EQ(message(2, 2, {1, 0, 0, 1}, {1, 0.5, 0, 1}),
            "R[1,0] = 0 and R[0,1] = 0.5, but R must be symmetric");
  EXPECT_NE(message(2, 2, {1, 0, 0, 1}, {1, 2, 2, 1}).find("positive definite"), std::string::npos);
  EXPECT_EQ(message(0, 1, {}, {1}), "state_dim = 0, but it must be >= 1");
  EXPECT_EQ(message(2, 1, {1, 0}, {1}), "accepted");
}

}  // namespace
}  // namespace kalmia::kalman
