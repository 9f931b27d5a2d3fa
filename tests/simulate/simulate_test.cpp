#include "kalmia/simulate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace kalmia {
namespace {

// Where the measured channels stand among the truth's columns.
std::vector<std::size_t> measured_columns(const std::string& system) {
  if (system == "lorenz") return {0, 1, 2};
  if (system == "linear") return {0, 3};
  if (system == "random-linear") return {0, 1};
  return {0};
}

double default_noise(const std::string& system) {
  if (system == "pendulum") return 0.1;
  if (system == "van-der-pol") return 0.3;
  return 0.5;
}

TEST(Simulate, ListsItsSystems) {
  std::vector<std::string> names;
  for (const SystemInfo& info : simulated_systems()) {
    names.push_back(info.name);
    EXPECT_FALSE(info.description.empty());
    EXPECT_EQ(info.description.find('\n'), std::string::npos);
    EXPECT_NE(info.description.find("noise"), std::string::npos) << info.name;
    EXPECT_NE(info.description.find("measured"), std::string::npos) << info.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"lorenz", "linear", "pendulum", "van-der-pol",
                                             "sinusoids", "random-linear"}));
}

TEST(Simulate, FillsEveryFieldOfTheData) {
  for (const SystemInfo& info : simulated_systems()) {
    SimulateOptions options;
    options.steps = 20;
    options.series = 2;
    options.dt = 0.25;
    const Dataset data = simulate(info.name, options);
    const std::size_t M = measured_columns(info.name).size();
    EXPECT_EQ(data.time_name, "t");
    EXPECT_EQ(data.key_name, "key");
    EXPECT_EQ(data.time_kind, TimeKind::Number);
    ASSERT_EQ(data.y_names.size(), M) << info.name;
    EXPECT_EQ(data.y_names[0], "y1");
    EXPECT_EQ(data.y_names[M - 1], fmt::format("y{}", M));
    for (const std::string& name : data.x_names) EXPECT_EQ(name.rfind("true_", 0), 0u);
    ASSERT_EQ(data.series.size(), 2u);
    EXPECT_EQ(data.series[0].key, "1");
    EXPECT_EQ(data.series[1].key, "2");
    for (const Series& series : data.series) {
      EXPECT_EQ(series.steps, 20);
      EXPECT_EQ(series.y.size(), 20 * M);
      EXPECT_EQ(series.x.size(), 20 * data.x_names.size());
      ASSERT_EQ(series.t.size(), 20u);
      EXPECT_EQ(series.t[0], 0);
      EXPECT_EQ(series.t[7], 1.75);
      for (const double y : series.y) EXPECT_TRUE(std::isfinite(y));
    }
  }
  EXPECT_EQ(simulate("lorenz").key_name, "");
  EXPECT_EQ(simulate("lorenz").series[0].key, "");
  EXPECT_EQ(simulate("lorenz").series[0].steps, 1000);
}

TEST(Simulate, ALongerSimulationBeginsWithTheShorterOne) {
  for (const SystemInfo& info : simulated_systems()) {
    SimulateOptions shorter, longer;
    shorter.steps = 30;
    longer.steps = 75;
    shorter.series = longer.series = 2;
    const Dataset few = simulate(info.name, shorter), many = simulate(info.name, longer);
    for (std::size_t s = 0; s < 2; ++s) {
      const Series &a = few.series[s], &b = many.series[s];
      EXPECT_TRUE(std::equal(a.x.begin(), a.x.end(), b.x.begin())) << info.name;
      EXPECT_TRUE(std::equal(a.y.begin(), a.y.end(), b.y.begin())) << info.name;
      EXPECT_TRUE(std::equal(a.t.begin(), a.t.end(), b.t.begin())) << info.name;
    }
  }
}

TEST(Simulate, ASeriesDoesNotDependOnTheirNumber) {
  for (const SystemInfo& info : simulated_systems()) {
    SimulateOptions few, many;
    few.steps = many.steps = 25;
    few.series = 2;
    many.series = 5;
    const Dataset a = simulate(info.name, few), b = simulate(info.name, many);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(a.series[s].x, b.series[s].x) << info.name;
      EXPECT_EQ(a.series[s].y, b.series[s].y) << info.name;
    }
    EXPECT_NE(b.series[0].x, b.series[1].x) << info.name;
    // Noise and states: neither is shared between series.
    const std::size_t column = measured_columns(info.name)[0];
    EXPECT_GT(std::abs((b.series[3].y[0] - b.series[3].x[column]) -
                       (b.series[4].y[0] - b.series[4].x[column])),
              1e-6)
        << info.name;
  }
}

TEST(Simulate, TheSeedSettlesEverything) {
  for (const SystemInfo& info : simulated_systems()) {
    SimulateOptions options;
    options.steps = 10;
    const Dataset once = simulate(info.name, options), again = simulate(info.name, options);
    EXPECT_EQ(once.series[0].y, again.series[0].y) << info.name;
    options.seed = 2;
    EXPECT_NE(once.series[0].x, simulate(info.name, options).series[0].x) << info.name;
  }
}

// y less the measured states: white noise of the asked level, channel by channel; the truth does
// not depend on it.
TEST(Simulate, TheNoiseHasItsLevel) {
  constexpr std::size_t kSteps = 10000;
  for (const SystemInfo& info : simulated_systems())
    for (const double noise : {-1.0, 0.0, 2.0}) {
      SimulateOptions options;
      options.steps = kSteps;
      options.noise = noise;
      const Dataset data = simulate(info.name, options);
      const std::size_t N = data.x_names.size(), M = data.y_names.size();
      const std::vector<std::size_t> columns = measured_columns(info.name);
      const double level = noise < 0 ? default_noise(info.name) : noise;
      for (std::size_t m = 0; m < M; ++m) {
        double mean = 0, square = 0, lagged = 0, before = 0;
        for (std::size_t k = 0; k < kSteps; ++k) {
          const double r = data.series[0].y[k * M + m] - data.series[0].x[k * N + columns[m]];
          mean += r / kSteps;
          square += r * r / kSteps;
          lagged += r * before / kSteps;
          before = r;
        }
        EXPECT_NEAR(mean, 0, 0.04 * level) << info.name << " " << m;
        EXPECT_NEAR(std::sqrt(square), level, 0.03 * level) << info.name << " " << m;
        EXPECT_NEAR(lagged, 0, 0.04 * level * level) << info.name << " " << m;
      }
      options.noise = 7;
      options.steps = 50;
      const Dataset louder = simulate(info.name, options);
      EXPECT_TRUE(std::equal(louder.series[0].x.begin(), louder.series[0].x.end(),
                             data.series[0].x.begin()));
    }
}

// Two steps of half the length end where one whole step does, for the systems without
// disturbances.
TEST(Simulate, TheStepIsTheTimeBetweenValues) {
  for (const std::string system : {"lorenz", "van-der-pol", "sinusoids"}) {
    SimulateOptions whole, half;
    whole.steps = 20;
    whole.dt = 0.08;
    half.steps = 39;
    half.dt = 0.04;
    const Dataset a = simulate(system, whole), b = simulate(system, half);
    const std::size_t N = a.x_names.size();
    for (std::size_t k = 0; k < 20; ++k)
      for (std::size_t i = 0; i < N; ++i)
        EXPECT_NEAR(a.series[0].x[k * N + i], b.series[0].x[2 * k * N + i], 1e-6)
            << system << " step " << k;
  }
}

TEST(Simulate, StatesAndMeasuredSizeRandomLinearAlone) {
  SimulateOptions options;
  options.steps = 3;
  options.states = 6;
  options.measured = 4;
  const Dataset data = simulate("random-linear", options);
  EXPECT_EQ(data.x_names.size(), 6u);
  EXPECT_EQ(data.y_names.size(), 4u);
  // The truth does not depend on how much of it is measured.
  options.measured = 1;
  EXPECT_EQ(simulate("random-linear", options).series[0].x, data.series[0].x);
  options.states = 0;
  EXPECT_EQ(simulate("lorenz", options).x_names.size(), 3u);
}

std::string failure(const std::string& system, const SimulateOptions& options) {
  try {
    simulate(system, options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no exception";
}

TEST(Simulate, AnUnknownSystemIsToldTheKnownOnes) {
  const std::string message = failure("lorentz", {});
  EXPECT_NE(message.find("\"lorentz\""), std::string::npos) << message;
  for (const SystemInfo& info : simulated_systems())
    EXPECT_NE(message.find(info.name), std::string::npos) << message;
}

TEST(Simulate, NamesEveryOptionThatIsWrong) {
  SimulateOptions options;
  options.steps = 0;
  options.series = -2;
  options.dt = 0;
  options.noise = -0.5;
  options.states = 3;
  options.measured = 4;
  const std::string message = failure("random-linear", options);
  for (const char* part : {"random-linear", "steps = 0", "series = -2", "dt = 0", "noise = -0.5",
                           "measured = 4", "states (3)"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  EXPECT_EQ(message.find("states = 3"), std::string::npos) << message;
  options = {};
  options.states = 0;
  EXPECT_NE(failure("random-linear", options).find("states = 0"), std::string::npos);
  options = {};
  options.dt = std::nan("");
  EXPECT_NE(failure("lorenz", options).find("dt = nan"), std::string::npos);
  options.dt = 1e6;
  EXPECT_NE(failure("lorenz", options).find("dt = 1000000"), std::string::npos);
  options = {};
  options.noise = INFINITY;
  EXPECT_NE(failure("lorenz", options).find("noise = inf"), std::string::npos);
}

TEST(Simulate, WhatNoMemoryHoldsIsRefused) {
  SimulateOptions options;
  options.series = 2147483647;
  EXPECT_NE(failure("lorenz", options).find("series = 2147483647, but it must be in 1..1000000"),
            std::string::npos);
  options = {};
  options.states = 2000;
  EXPECT_NE(failure("random-linear", options).find("states = 2000, but it must be in 1..128"),
            std::string::npos);
  options = {};
  options.steps = 2147483647;
  EXPECT_EQ(failure("lorenz", options),
            "simulate lorenz: steps = 2147483647 in series = 1 are 1.5e+10 numbers (7 a step), but "
            "at most 2.5e+08 are simulated at once; take fewer, or several runs with seeds of "
            "their own");
  options.steps = 1000;
  options.series = 1000000;
  EXPECT_NE(failure("lorenz", options).find("7e+09 numbers"), std::string::npos);
}

}  // namespace
}  // namespace kalmia
