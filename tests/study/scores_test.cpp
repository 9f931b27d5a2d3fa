#include "study/scores.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace kalmia::study {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

TEST(Mean, LeavesNanOut) {
  Mean mean;
  EXPECT_FALSE(mean.value());
  mean.add(kNoScore);
  EXPECT_FALSE(mean.value());
  mean.add(3);
  mean.add(8, 2);
  EXPECT_DOUBLE_EQ(*mean.value(), 11.0 / 3);
  EXPECT_EQ(mean.count(), 3u);
}

TEST(NormalisedSquare, IsTheQuadraticForm) {
  // C = [4, 1; 1, 2], C^-1 = [2, -1; -1, 4] / 7, e = (3, -1): (18 + 6 + 4) / 7 = 4.
  const std::vector<double> C{4, 1, 1, 2}, e{3, -1};
  const auto both = normalised_square(e, C);
  ASSERT_TRUE(both);
  EXPECT_NEAR(both->square, 4, 1e-14);
  EXPECT_EQ(both->components, 2u);
}

TEST(NormalisedSquare, TakesTheObservedBlock) {
  const std::vector<double> C{4, 1, 0.5, 1, 2, 0.25, 0.5, 0.25, 8}, e{3, kNoScore, 2};
  const auto part = normalised_square(e, C);
  ASSERT_TRUE(part);
  // [4, 0.5; 0.5, 8]: (8*9 - 2*0.5*6 + 4*4) / 31.75
  EXPECT_NEAR(part->square, 82 / 31.75, 1e-14);
  EXPECT_EQ(part->components, 2u);
  const auto none = normalised_square(std::vector<double>(3, kNoScore), C);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->components, 0u);
  EXPECT_EQ(none->square, 0);
}

TEST(NormalisedSquare, RefusesWhatIsNoCovariance) {
  const std::vector<double> C{1, 2, 2, 1}, e{1, 1}, seen{1, kNoScore};
  EXPECT_FALSE(normalised_square(e, C));
  EXPECT_TRUE(normalised_square(seen, C));
}

TEST(Within95, HoldsNineteenOfTwenty) {
  RandomStream random(3, "within");
  double inside = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) inside += within_95(3 * random.normal(), 9) / kDraws;
  EXPECT_NEAR(inside, 0.95, 0.003);
  EXPECT_EQ(within_95(-1.9599, 1), 1);
  EXPECT_EQ(within_95(-1.9600, 1), 0);
  EXPECT_TRUE(std::isnan(within_95(kNoScore, 1)));
}

void expect_equal(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_DOUBLE_EQ(got[i], want[i]) << i;
}

TEST(InterpolateGaps, JoinsNeighboursByALineAndHoldsTheEnds) {
  const std::vector<double> y{kNoScore, kNoScore, 2,        kNoScore, kNoScore,
                              8,        7,        kNoScore, 9,        kNoScore};
  expect_equal(interpolate_gaps(y, {}), {2, 2, 2, 4, 6, 8, 7, 8, 9, 9});
}

TEST(InterpolateGaps, GoesByTheTimeAxis) {
  const std::vector<double> y{0, kNoScore, kNoScore, 10}, t{0, 1, 9, 10}, at_once{5, 5, 5, 5};
  expect_equal(interpolate_gaps(y, t), {0, 1, 9, 10});
  expect_equal(interpolate_gaps(y, at_once), {0, 5, 5, 10});
}

TEST(InterpolateGaps, NothingMeasuredNothingFilled) {
  const std::vector<double> y{kNoScore, kNoScore}, one{kNoScore, 4, kNoScore};
  for (const double value : interpolate_gaps(y, {})) EXPECT_TRUE(std::isnan(value));
  expect_equal(interpolate_gaps(one, {}), {4, 4, 4});
  EXPECT_TRUE(interpolate_gaps({}, {}).empty());
}

}  // namespace
}  // namespace kalmia::study
