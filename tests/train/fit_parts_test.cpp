// A series is taken apart: what its parts were is found within their bars.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/listing.hpp"

namespace kalmia {
namespace {

struct TakenApart {
  Dataset data;
  std::vector<double> trend, season;
};

// A trend whose velocity wanders, a period of 12 whose shape wanders, noise; every ninth value is
// missing, and some rows.
TakenApart trend_and_season(int steps, std::uint64_t seed) {
  RandomStream random(seed, "trend and season");
  TakenApart made;
  made.data.y_names = {"load"};
  made.data.time_name = "t";
  made.data.time_kind = TimeKind::Number;
  Series& series = made.data.series.emplace_back();
  double level = 40, velocity = 0.05, a = 3, b = 0;
  const double w = 2 * std::numbers::pi / 12;
  for (int k = 0; k < steps; ++k) {
    level += velocity;
    velocity += 0.01 * random.normal();
    const double next = std::cos(w) * a + std::sin(w) * b + 0.05 * random.normal();
    b = std::cos(w) * b - std::sin(w) * a + 0.05 * random.normal();
    a = next;
    const double y = level + a + random.normal();
    if (k % 50 == 30) continue;
    series.t.push_back(100 + k);
    series.y.push_back(k % 9 == 4 ? std::nan("") : y);
    made.trend.push_back(level);
    made.season.push_back(a);
  }
  series.steps = static_cast<int>(series.t.size());
  return made;
}

TEST(FitParts, AreFoundWithinTheirBars) {
  const TakenApart made = trend_and_season(1500, 21);
  FitOptions options;
  options.model.prior = "trend + season(12, 1)";
  options.model.hidden = 0;
  options.train.threads = 1;
  const Model model = fit(made.data, options).model;
  const Estimates parts = Listing(model, {.parts = true}).of(model.smooth(made.data, 1));
  ASSERT_EQ(parts.state_names, (std::vector<std::string>{"load", "load:trend", "load:season(12)"}));
  const std::size_t steps = made.trend.size();
  double square[2] = {}, ratio[2] = {}, power[2] = {};
  int within[2] = {};
  for (std::size_t k = 0; k < steps; ++k)
    for (std::size_t p = 0; p < 2; ++p) {
      const double truth = p == 0 ? made.trend[k] : made.season[k];
      const double error = parts.series[0].mean[k * 3 + 1 + p] - truth;
      const double variance = parts.series[0].covariance[k * 9 + (1 + p) * 4];
      square[p] += error * error;
      ratio[p] += error * error / variance;
      power[p] += p == 0 ? 1 : truth * truth;
      within[p] += std::abs(error) <= 1.96 * std::sqrt(variance) ? 1 : 0;
    }
  const auto count = static_cast<double>(steps);
  for (std::size_t p = 0; p < 2; ++p) {
    // Far below the noise, whose square is 1.
    EXPECT_LT(square[p], 0.1 * count) << p;
    // Errors last, so that there are few of them that count: some 50 of the trend, 30 of the
    // season.
    EXPECT_GT(ratio[p], 0.6 * count) << p;
    EXPECT_LT(ratio[p], 1.5 * count) << p;
    EXPECT_GT(within[p], 0.88 * count) << p;
  }
  EXPECT_GT(power[1], 2 * count);  // the season is no small thing itself
}

}  // namespace
}  // namespace kalmia
