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

// A swing whose sensor drifts: every thirteenth value is missing, and steps are not of one length.
TakenApart drifting_swing(int steps, std::uint64_t seed) {
  RandomStream random(seed, "drifting swing");
  TakenApart made;
  made.data.y_names = {"angle"};
  made.data.u_names = {"push"};
  made.data.time_name = "t";
  made.data.time_kind = TimeKind::Number;
  Series& series = made.data.series.emplace_back();
  double time = 0, x = 1, v = 0, drift = 0.5, push = 0;
  constexpr int kFine = 20;
  for (int k = 0; k < steps; ++k) {
    series.t.push_back(time);
    made.trend.push_back(x);
    made.season.push_back(drift);
    series.y.push_back(k % 13 == 4 ? std::nan("") : x + drift + 0.1 * random.normal());
    if (k % 40 == 0) push = 2 * random.normal();
    series.u.push_back(push);
    const double dt = random.uniform(0.05, 0.15), h = dt / kFine;
    for (int i = 0; i < kFine; ++i) {
      v += h * (push - 9 * std::sin(x) - 0.3 * v) + 0.3 * std::sqrt(h) * random.normal();
      x += h * v;
    }
    drift = std::exp(-dt / 20) * drift + 0.5 * std::sqrt(1 - std::exp(-dt / 10)) * random.normal();
    time += dt;
  }
  series.steps = steps;
  return made;
}

TEST(FitParts, OfEquationsWithASensorThatDriftsAreFoundWithinTheirBars) {
  const TakenApart made = drifting_swing(1500, 22);
  FitOptions options;
  options.model.prior = "system + memory(10)";
  System& system = options.model.system;
  system.states = {"x", "v"};
  system.inputs = {"push"};
  system.parameters = {{"g", 6, true, 0}, {"c", 0.5, true, 0}};
  system.ode = {{"x", "v"}, {"v", "push - g*sin(x) - c*v"}};
  system.measure = {{"angle", "x"}};
  options.model.hidden = 0;
  options.train.threads = 1;
  const FitResult result = fit(made.data, options);
  EXPECT_EQ(result.summary.static_model.prior, "system + memory(10)");
  ASSERT_EQ(result.summary.static_model.parameters.size(), 3u);
  EXPECT_NEAR(result.summary.static_model.parameters[0].value, 9, 0.4);
  EXPECT_EQ(result.summary.static_model.found.find("system, variations that last "), 0u);
  const Model& model = result.model;
  const Estimates parts = Listing(model, {.parts = true}).of(model.smooth(made.data, 1));
  ASSERT_EQ(parts.state_names, (std::vector<std::string>{"angle", "x", "v", "angle_memory",
                                                         "angle:system", "angle:memory"}));
  const std::size_t steps = made.trend.size(), K = 6;
  double square[2] = {}, ratio[2] = {}, power[2] = {};
  for (std::size_t k = 0; k < steps; ++k)
    for (std::size_t p = 0; p < 2; ++p) {
      const double truth = p == 0 ? made.trend[k] : made.season[k];
      const double error = parts.series[0].mean[k * K + 4 + p] - truth;
      square[p] += error * error;
      ratio[p] += error * error / parts.series[0].covariance[k * K * K + (4 + p) * (K + 1)];
      power[p] += truth * truth;
    }
  const auto count = static_cast<double>(steps);
  for (std::size_t p = 0; p < 2; ++p) {
    // Raw, the equations' share is off by the drift, whose square is 0.25.
    EXPECT_LT(square[p], 0.1 * power[1]) << p;
    EXPECT_GT(ratio[p], 0.4 * count) << p;
    EXPECT_LT(ratio[p], 2 * count) << p;
  }
  EXPECT_GT(power[1], 0.1 * count);
}

}  // namespace
}  // namespace kalmia
