#include "simulate/sinusoids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kalmia/simulate.hpp"

namespace kalmia::simulation {
namespace {

TEST(Sinusoids, FrequenciesAreApartAndBelongToTheSeed) {
  SimulatedSystemOptions options;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    options.seed = seed;
    const auto f = Sinusoids(options).frequencies();
    EXPECT_GE(f[0], 0.005);
    EXPECT_LT(f[0], f[1]);
    EXPECT_LT(f[1], f[2]);
    EXPECT_LE(f[2], 0.05);
    EXPECT_LE(f[0], 0.005 * std::cbrt(10.0) * (1 + 1e-12));
    EXPECT_GE(f[2], 0.05 / std::cbrt(10.0) * (1 - 1e-12));
    EXPECT_EQ(f, Sinusoids(options).frequencies());
  }
  options.seed = 1;
  const auto one = Sinusoids(options).frequencies();
  options.seed = 2;
  EXPECT_NE(one, Sinusoids(options).frequencies());
}

// Each factor (1 - 2 cos(2 pi f dt) B + B^2) takes one sinusoid away; all three leave nothing. True
// of a sum of sinusoids of these frequencies and of nothing else.
TEST(Sinusoids, ThreeNotchesLeaveNothing) {
  SimulateOptions options;
  options.steps = 5000;
  options.series = 3;
  options.dt = 0.5;
  options.seed = 12;
  const Dataset data = kalmia::simulate("sinusoids", options);
  SimulatedSystemOptions system;
  system.seed = 12;
  const auto frequencies = Sinusoids(system).frequencies();
  for (const Series& series : data.series) {
    std::vector<double> rest = series.x;
    for (const double f : frequencies) {
      const double c = 2 * std::cos(2 * std::numbers::pi * f * 0.5);
      for (std::size_t k = rest.size(); k-- > 2;) rest[k] = rest[k] - c * rest[k - 1] + rest[k - 2];
    }
    for (std::size_t k = 6; k < rest.size(); ++k) ASSERT_NEAR(rest[k], 0, 1e-11) << k;
    double square = 0;
    for (const double x : series.x) square += x * x / static_cast<double>(series.x.size());
    EXPECT_NEAR(square, 1.5, 0.15);
  }
  EXPECT_NE(data.series[0].x, data.series[1].x);
  EXPECT_EQ(data.x_names, std::vector<std::string>{"true_y1"});
}

}  // namespace
}  // namespace kalmia::simulation
