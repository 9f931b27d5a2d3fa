#include "study/whiteness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace kalmia::study {
namespace {

constexpr double kNoResidual = std::numeric_limits<double>::quiet_NaN();

std::optional<LjungBox> test_one(const std::vector<double>& values, int lags = 0) {
  return ljung_box({std::span<const double>(values)}, lags);
}

std::vector<double> white(std::size_t count, std::uint64_t index) {
  RandomStream random(9, "white", index);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

// The first twenty floods of the Nile (1871-1890) and a chirp; computed with statsmodels'
// acorr_ljungbox.
TEST(LjungBox, AgreesWithAnIndependentImplementation) {
  const std::vector<double> nile{1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140,
                                 995,  935,  1110, 994,  1020, 960,  1180, 799,  958,  1140};
  std::vector<double> chirp(200);
  for (std::size_t k = 0; k < 200; ++k) chirp[k] = std::sin(0.1 * static_cast<double>(k * k));
  struct Golden {
    const std::vector<double>& values;
    int lags;
    double statistic, p;
  };
  const Golden goldens[] = {{nile, 1, 0.010160965211750918, 0.9197079462644152},
                            {nile, 4, 4.942664602694638, 0.2932312205445691},
                            {nile, 10, 12.64632100124958, 0.24412398781411565},
                            {chirp, 1, 0.8557986694960682, 0.35491708108321884},
                            {chirp, 20, 5.332118526935256, 0.9995447096115692}};
  for (const Golden& golden : goldens) {
    const auto test = test_one(golden.values, golden.lags);
    ASSERT_TRUE(test);
    EXPECT_EQ(test->lags, golden.lags);
    EXPECT_NEAR(test->statistic, golden.statistic, 1e-9);
    EXPECT_NEAR(test->p, golden.p, 1e-10);
  }
}

TEST(LjungBox, TheNumberOfLagsFollowsTheLength) {
  EXPECT_EQ(test_one(white(1000, 1))->lags, 20);
  EXPECT_EQ(test_one(white(60, 1))->lags, 12);
  EXPECT_EQ(test_one(white(5, 1))->lags, 1);
  EXPECT_FALSE(test_one(white(4, 1)));
  // Missing values are not counted.
  std::vector<double> gaps = white(60, 1);
  for (std::size_t k = 0; k < 60; k += 2) gaps[k] = kNoResidual;
  EXPECT_FALSE(test_one(gaps, 1)) << "no two neighbours are there";
  EXPECT_EQ(test_one(gaps)->lags, 3) << "lags 2, 4 and 6";
}

TEST(LjungBox, ConstantValuesHaveNoTest) {
  EXPECT_FALSE(test_one(std::vector<double>(100, 0.1)));
  EXPECT_FALSE(test_one(std::vector<double>(100, kNoResidual)));
  EXPECT_FALSE(test_one({}));
  EXPECT_FALSE(ljung_box({}));
}

// p-values of white noise are uniform, whole or with a third of the values missing.
TEST(LjungBox, WhiteNoisePasses) {
  for (const bool missing : {false, true}) {
    int below_half = 0, below_twentieth = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
      std::vector<double> values = white(400, i);
      RandomStream random(10, "gaps", i);
      for (double& value : values)
        if (missing && random.uniform() < 1.0 / 3) value = kNoResidual;
      const double p = test_one(values)->p;
      below_half += p < 0.5 ? 1 : 0;
      below_twentieth += p < 0.05 ? 1 : 0;
    }
    EXPECT_NEAR(below_half, 200, 40) << missing;
    EXPECT_NEAR(below_twentieth, 20, 16) << missing;
  }
}

TEST(LjungBox, ColouredNoiseFails) {
  for (const bool missing : {false, true})
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::vector<double> values = white(1000, i);
      for (std::size_t k = 1; k < values.size(); ++k) values[k] += 0.4 * values[k - 1];
      RandomStream random(10, "gaps", i);
      for (double& value : values)
        if (missing && random.uniform() < 1.0 / 3) value = kNoResidual;
      EXPECT_LT(test_one(values)->p, 1e-4) << i;
    }
}

// Series do not touch: the pairs are those within each of them.
TEST(LjungBox, PairsStayWithinTheirSeries) {
  const std::vector<double> a{1, -2, 3}, b{-1, 2, -3, 4},
      joined{1, -2, 3, kNoResidual, -1, 2, -3, 4};
  const auto apart = ljung_box({std::span<const double>(a), std::span<const double>(b)}, 1);
  const auto together = test_one(joined, 1);
  ASSERT_TRUE(apart && together);
  EXPECT_NEAR(apart->statistic, together->statistic, 1e-12);
  // By hand: n = 7, mean 4/7; 5 pairs.
  const double mean = 4.0 / 7;
  double square = 0, sum = 0;
  for (const double v : {1, -2, 3, -1, 2, -3, 4}) square += (v - mean) * (v - mean);
  for (const auto& [u, v] : {std::pair{1, -2}, {-2, 3}, {-1, 2}, {2, -3}, {-3, 4}})
    sum += (u - mean) * (v - mean);
  const double rho = sum / 5 / (square / 7);
  EXPECT_NEAR(apart->statistic, 9.0 / 7 * 5 * rho * rho, 1e-12);
}

TEST(NormalisedInnovations, DividesByTheChannelsDeviation) {
  const std::vector<double> r{2, 6, kNoResidual, 9};
  const std::vector<double> S{4, 1, 1, 9, 16, 0, 0, 81};
  const std::vector<double> first = normalised_innovations(r, S, 2, 0);
  const std::vector<double> second = normalised_innovations(r, S, 2, 1);
  EXPECT_DOUBLE_EQ(first[0], 1);
  EXPECT_TRUE(std::isnan(first[1]));
  EXPECT_DOUBLE_EQ(second[0], 2);
  EXPECT_DOUBLE_EQ(second[1], 1);
}

}  // namespace
}  // namespace kalmia::study
