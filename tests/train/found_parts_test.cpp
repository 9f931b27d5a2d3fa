#include "train/found_parts.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "lanes/panel.hpp"
#include "nn/softplus.hpp"
#include "prior/parts_text.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// Rows without times, and rows of an hour each.
prior::DataAxes rows(const std::vector<std::string>& channels = {"y"}) {
  return {.channels = channels};
}
prior::DataAxes hours() { return {.channels = {"y"}, .step = 3600, .dates = true}; }

// A sum with learned rates `theta`, the noise's deviation 0.42 and process noise of deviation 0.1
// for every state. `mean` and `spread` are the climate of each state; without a spread, it has
// none. Units of the model are 2.
StaticResult learned(const std::string& text, const std::vector<double>& theta,
                     const prior::DataAxes& axes, double mean = 0, double spread = 0) {
  StaticResult fitted;
  model::ModelDescription& description = fitted.description;
  description.measured_names = axes.channels;
  description.prior = test::named("sum");
  description.prior.parts = prior::parts_in_steps(prior::parse_sum(text).parts, axes);
  description.theta = theta;
  const prior::Expert expert = model::expert_of(description);
  const auto N = static_cast<std::size_t>(expert.state_dim());
  const std::size_t M = axes.channels.size();
  EXPECT_EQ(expert.parameters.size(), theta.size()) << text;
  description.units = {std::vector<double>(M, 2), std::vector<double>(M, 0),
                       std::vector<double>(N, 2), std::vector<double>(N, 0)};
  fitted.initial_L.assign(static_cast<std::size_t>(lanes::triangle_size(static_cast<int>(N))), 0);
  fitted.output.assign(N * N + N + fitted.initial_L.size(), 0);
  for (int n = 0; n < static_cast<int>(N); ++n)
    fitted.output[N * N + N + static_cast<std::size_t>(lanes::triangle_index(n, n))] =
        nn::inverse_softplus(0.1);
  fitted.R.assign(M * M, 0);
  for (std::size_t m = 0; m < M; ++m)
    fitted.R[m * (M + 1)] = std::pow(0.42 * static_cast<double>(m + 1) / 2, 2);
  if (spread > 0) {
    description.climate.mean.assign(N, mean);
    description.climate.spread.assign(N, spread);
  }
  return fitted;
}

std::string found(const std::string& text, const std::vector<double>& theta,
                  const prior::DataAxes& axes) {
  return found_text(learned(text, theta, axes), axes);
}

TEST(FoundParts, EachPartInWords) {
  constexpr double kDay = 2 * std::numbers::pi / 24;
  EXPECT_EQ(found("level", {}, rows()), "a level that wanders and noise of 0.42");
  EXPECT_EQ(found("trend", {}, rows()), "a trend and noise of 0.42");
  EXPECT_EQ(found("acceleration", {}, rows()), "a smooth motion and noise of 0.42");
  EXPECT_EQ(found("memory", {0.05}, rows()), "variations that last 20 and noise of 0.42");
  EXPECT_EQ(found("damped-trend", {0.1}, rows()), "a trend that fades within 10 and noise of 0.42");
  EXPECT_EQ(found("damped-velocity", {0.5, 0.02}, rows()),
            "a motion that fades within 50 and noise of 0.42");
  EXPECT_EQ(found("damped-acceleration", {0.01, kDay}, rows()),
            "a motion whose velocity swings within 24 and fades within 100 and noise of 0.42");
  EXPECT_EQ(found("oscillator", {0.02, kDay}, rows()),
            "an oscillation with a period of 24 that lasts 50 and noise of 0.42");
  EXPECT_EQ(found("ar(3)", {0.5, 0.2, 0.1}, rows()),
            "an autoregression on 3 values and noise of 0.42");
  EXPECT_EQ(found("season(11)", {}, rows()), "a cycle of 11 and noise of 0.42");
}

TEST(FoundParts, TimesAreThoseOfTheData) {
  EXPECT_EQ(found("memory", {1.0 / 48}, hours()), "variations that last 2 d and noise of 0.42");
  EXPECT_EQ(found("memory", {12}, hours()), "variations that last 5 min and noise of 0.42");
  EXPECT_EQ(found("memory", {0.001}, hours()), "variations that last 42 d and noise of 0.42");
  // A tenth of a second, counted in seconds.
  EXPECT_EQ(found("memory", {0.05}, {.channels = {"y"}, .step = 0.1}),
            "variations that last 2 and noise of 0.42");
  // Long ones are written out.
  EXPECT_EQ(found("memory", {1.0 / 365}, rows()), "variations that last 365 and noise of 0.42");
  EXPECT_EQ(found("season(365)", {}, rows()), "a cycle of 365 and noise of 0.42");
}

TEST(FoundParts, CyclesOfTheCalendarHaveNames) {
  EXPECT_EQ(found("season(24 h)", {}, hours()), "a daily cycle and noise of 0.42");
  EXPECT_EQ(found("season(7 d)", {}, hours()), "a weekly cycle and noise of 0.42");
  EXPECT_EQ(found("season(365.25 d)", {}, hours()), "a yearly cycle and noise of 0.42");
  EXPECT_EQ(found("season(12 h)", {}, hours()), "a cycle of 12 h and noise of 0.42");
  EXPECT_EQ(found("season(24)", {}, rows()), "a cycle of 24 and noise of 0.42");
}

// States of deviation s and mean m that are moved by q in a step are others after (m^2 + s^2) /
// q^2.
TEST(FoundParts, ASeasonsShapeChangesWithin) {
  const auto text = [](const prior::DataAxes& axes, double mean, double spread) {
    return found_text(learned("season(24)", {}, axes, mean, spread), axes);
  };
  EXPECT_EQ(text(rows(), 0, 2), "a cycle of 24 whose shape changes within 400 and noise of 0.42");
  EXPECT_EQ(text(rows(), 2, 2), "a cycle of 24 whose shape changes within 800 and noise of 0.42");
  EXPECT_EQ(text(rows(), 0, 20), "a cycle of 24 whose shape stays the same and noise of 0.42");
  const StaticResult daily = learned("season(24 h)", {}, hours(), 0, 2);
  EXPECT_EQ(found_text(daily, hours()),
            "a daily cycle whose shape changes within 17 d and noise of 0.42");
}

// States and rates of a part are found behind those of the parts before it.
TEST(FoundParts, SumsAreListedInTheirOrder) {
  EXPECT_EQ(found("trend + memory + oscillator + memory", {0.05, 0.02, 0.5, 0.25}, rows()),
            "a trend, variations that last 20, an oscillation with a period of 13 that lasts 50, "
            "variations that last 4, and noise of 0.42");
  StaticResult fitted = learned("trend + season(24)", {}, rows(), 0, 2);
  fitted.description.climate.spread[0] = fitted.description.climate.spread[1] = 1e6;
  EXPECT_EQ(found_text(fitted, rows()),
            "a trend, a cycle of 24 whose shape changes within 400, and noise of 0.42");
}

TEST(FoundParts, ChannelsHaveTheirOwn) {
  const prior::DataAxes two = rows({"north", "up\n"});
  EXPECT_EQ(found("memory", {0.05, 0.1}, two),
            "north: variations that last 20 and noise of 0.42; up\\n: variations that last 10 and "
            "noise of 0.84");
  EXPECT_EQ(found("north: trend + memory; level", {0.05}, two),
            "north: a trend, variations that last 20, and noise of 0.42; up\\n: a level that "
            "wanders and noise of 0.84");
}

// Those of parts come behind the constants and the states of the equations.
TEST(FoundParts, BesideEquationsTheirNameComesFirst) {
  const prior::DataAxes two = rows({"a", "b"});
  StaticResult fitted;
  model::ModelDescription& d = fitted.description;
  d.measured_names = two.channels;
  d.prior = test::named("linear-motion");
  d.prior.departure = 0.01;
  const std::size_t constants = model::expert_of(d).parameters.size();
  ASSERT_GT(constants, 0u);
  d.prior.parts =
      prior::parts_in_steps(prior::parse_sum("a: trend + memory").parts, two, prior::Alone::No);
  d.theta.assign(constants, 0.5);
  d.theta.push_back(0.05);
  d.units = {{2, 2}, {0, 0}, std::vector<double>(9, 1), std::vector<double>(9, 0)};
  fitted.R = {0.21 * 0.21, 0, 0, 0.42 * 0.42};
  EXPECT_EQ(found_text(fitted, two),
            "a: linear-motion, a trend, variations that last 20, and noise of 0.42; b: "
            "linear-motion and noise of 0.84");
}

TEST(FoundParts, OtherPriorsHaveNone) {
  StaticResult fitted;
  fitted.description.prior = test::named("constant-velocity");
  EXPECT_EQ(found_text(fitted, rows()), "");
}

}  // namespace
}  // namespace kalmia::train
