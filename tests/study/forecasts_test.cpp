#include "study/forecasts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::study {
namespace {

// The paper's linear system and its exact map.
struct Linear {
  Dataset data;
  Model model;
};

Dataset linear_data(std::uint64_t seed) {
  SimulateOptions options;
  options.steps = 8000;
  options.seed = seed;
  return simulate("linear", options);
}

const Linear& linear() {
  static const Linear made = [] {
    FitOptions options;
    options.model.effort = "quick";
    options.model.prior = "linear-motion";
    options.model.integration.order = 12;
    options.model.departure = 0;
    options.model.noise = "0.5";
    options.model.hidden = 0;
    options.train.threads = 1;
    return Linear{linear_data(2), fit(linear_data(1), options).model};
  }();
  return made;
}

Truth states_of(const Dataset& data) {
  return truth_by_name(data, linear().model.state_names(), linear().model.measured_names(),
                       measure_of(linear().model));
}

// The right model's bars cover what they claim at every horizon, and errors grow with it. 38 places
// to forecast from, 6 states: 228 values.
TEST(Forecasts, BarsOfTheRightModelCover) {
  const auto scores =
      score_forecasts(linear().model, linear().data, states_of(linear().data), 10, 1);
  ASSERT_EQ(scores.size(), 10u);
  double mean = 0;
  for (const ForecastScore& each : scores) {
    EXPECT_NEAR(*each.coverage95, 0.95, 0.06);
    mean += *each.coverage95 / 10;
  }
  EXPECT_NEAR(mean, 0.95, 0.04);
  EXPECT_GT(*scores[9].mse, *scores[0].mse);
}

TEST(Forecasts, TheStepsComparedAreThoseThatFollow) {
  // One stretch: what the model says after 200 steps.
  Dataset data = linear().data;
  Series& series = data.series[0];
  series.steps = 205;
  const std::size_t N = 6, M = 2;
  series.x.resize(205 * N);
  series.y.resize(205 * M);
  if (!series.t.empty()) series.t.resize(205);
  const auto scores = score_forecasts(linear().model, data, states_of(data), 5, 1);
  Dataset begin = data;
  begin.series[0].steps = 200;
  begin.series[0].x.resize(200 * N);
  begin.series[0].y.resize(200 * M);
  if (!series.t.empty()) begin.series[0].t.resize(200);
  const Estimates found = linear().model.forecast(begin, 5, 1);
  for (std::size_t h = 0; h < 5; ++h) {
    double sum = 0;
    for (std::size_t n = 0; n < N; ++n)
      sum += std::pow(found.series[0].mean[h * N + n] - series.x[(200 + h) * N + n], 2) / N;
    EXPECT_NEAR(*scores[h].mse, sum, 1e-12) << h;
  }
}

TEST(Forecasts, WithoutTruthTheMeasurementsCount) {
  const auto scores = score_forecasts(linear().model, linear().data, Truth(), 3, 1);
  ASSERT_EQ(scores.size(), 3u);
  // The noise is part of what is compared with.
  for (const ForecastScore& each : scores) {
    EXPECT_GT(*each.mse, 0.25);
    EXPECT_NEAR(*each.coverage95, 0.95, 0.08);
  }
}

TEST(Forecasts, SeriesThatAreTooShortAreRefused) {
  Dataset data = linear().data;
  data.source = "short.npz";
  EXPECT_EQ(message_of<DataError>(
                [&] { score_forecasts(linear().model, data, states_of(data), 8000, 1); }),
            "short.npz: horizon = 8000, but no series to compare with is longer; choose a smaller "
            "one");
  // So is one without truth, where there is some.
  data.series[0].x.clear();
  EXPECT_THROW(score_forecasts(linear().model, data, states_of(data), 5, 1), DataError);
}

}  // namespace
}  // namespace kalmia::study
