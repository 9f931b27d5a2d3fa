#include "prior/linear_map.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

TEST(LinearMap, IsTheSameInEveryLaneAndAtEveryState) {
  const prior::LinearMap map(2, {1, 0.5, 0, 1}, {3, 4});
  Lines<double> x(2, 1), F(2, 2), e(2, 1), d_F(2, 2), d_e(2, 1), d_x(2, 1);
  fill(d_F, [] { return Matrix::Ones(2, 2); });
  fill(d_x, [] { return Matrix::Ones(2, 1); });
  map.forward({x.data()}, F.data(), e.data(), nullptr);
  map.backward({x.data()}, d_F.data(), d_e.data(), d_x.data(), nullptr, nullptr);
  for (int b = 0; b < x.kLanes; ++b) {
    EXPECT_EQ(F.get(b), (Matrix{{1, 0.5}, {0, 1}}));
    EXPECT_EQ(e.get(b), (Matrix{{3}, {4}}));
    EXPECT_EQ(d_x.get(b), Matrix::Ones(2, 1));
  }
}

TEST(LinearMap, AnEmptyOffsetIsZero) {
  const prior::LinearMap map(1, {2});
  Lines<double> x(1, 1), F(1, 1), e(1, 1);
  fill(e, [] { return Matrix::Ones(1, 1); });
  map.forward({x.data()}, F.data(), e.data(), nullptr);
  EXPECT_EQ(e.get(3)(0), 0);
}

TEST(LinearMap, RefusesMatricesThatDoNotFit) {
  EXPECT_THROW(prior::LinearMap(2, {1, 0, 0}), ConfigError);
  EXPECT_THROW(prior::LinearMap(2, {1, 0, 0, 1}, {1}), ConfigError);
  EXPECT_THROW(prior::LinearMap(0, {}), ConfigError);
}

}  // namespace
}  // namespace kalmia::test
