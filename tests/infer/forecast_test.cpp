#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heads/state_stream.hpp"
#include "infer/infer_cases.hpp"
#include "kalmia/model.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::alone;
using test::classical_model;
using test::expect_close;
using test::LearnedCase;
using test::motion_data;
using test::PaddedData;
using test::public_model;
using test::rows;
using test::sum_of;

const std::vector<int> kForecastLengths = {65, 0, 300, 1, 2};

TEST(Forecast, IsAFilterThatSeesNothingMore) {
  constexpr int kHorizon = 20;
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kForecastLengths, 88);
    const PaddedData padded(data, kHorizon);
    const Model model = public_model(test::static_case(channels));
    const Estimates found = model.forecast(data, kHorizon, 2);
    const FilterResult expected = kalman_filter(classical_model(channels), padded.view);
    const int N = 2 * channels;
    ASSERT_EQ(found.series.size(), kForecastLengths.size());
    for (std::size_t s = 0; s < kForecastLengths.size(); ++s) {
      const StateEstimates& series = found.series[s];
      EXPECT_EQ(series.key, data.series[s].key);
      ASSERT_EQ(series.steps, kHorizon);
      const std::string what = "series " + std::to_string(s);
      expect_close(series.mean,
                   rows(expected, expected.filtered.mean, s, kForecastLengths[s], kHorizon, N),
                   1e-9, what);
      expect_close(
          series.covariance,
          rows(expected, expected.filtered.covariance, s, kForecastLengths[s], kHorizon, N * N),
          1e-9, what);
      for (int k = 1; k < kHorizon; ++k)
        for (int n = 0; n < N; ++n) {
          const auto at = static_cast<std::size_t>(k * N * N + n * (N + 1));
          EXPECT_GT(series.covariance[at], series.covariance[at - static_cast<std::size_t>(N * N)]);
        }
    }
    const double likelihood = sum_of(expected.log_likelihood);
    EXPECT_NEAR(found.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
    EXPECT_EQ(found.measured_values, model.filter(data, 1).measured_values);
  }
}

TEST(Forecast, TimesGoOnByTheStep) {
  const Model model = public_model(test::static_case(1));
  const Dataset data = motion_data(1, {4, 1, 0}, 89);
  const Estimates found = model.forecast(data, 3, 1);
  EXPECT_EQ(found.time_kind, TimeKind::Number);
  EXPECT_EQ(found.series[0].t, (std::vector<double>{12, 12.5, 13}));
  EXPECT_EQ(found.series[1].t, (std::vector<double>{10.5, 11, 11.5}));
  // A series that never began has no times, but every step has one, as in the other series.
  ASSERT_EQ(found.series[2].t.size(), 3u);
  EXPECT_TRUE(std::isnan(found.series[2].t[0]));
  // A single step does not say how long a step is; the model does.
  EXPECT_EQ(model.forecast(alone(data, 1), 2, 1).series[0].t, (std::vector<double>{10.5, 11}));
  Dataset untimed = alone(data, 0);
  untimed.time_kind = TimeKind::None;
  untimed.series[0].t.clear();
  LearnedCase counting = test::static_case(1);
  counting.description.time = TimeKind::None;
  EXPECT_TRUE(public_model(counting).forecast(untimed, 2, 1).series[0].t.empty());
}

// With networks, the prediction of y is what they read and what the residual is centred at.
TEST(Forecast, FeedsPredictionsBack) {
  const LearnedCase made = test::network_case(2, 90);
  const Dataset data = motion_data(2, {70}, 91);
  const Estimates found = public_model(made).forecast(data, 6, 1);
  const auto learned = made.make<float>();
  const model::ModelDescription& d = learned->description();
  heads::StateStream<float> stream(learned->window(), learned->parameters());
  heads::StreamState<float> state = stream.start();
  std::vector<double> last(2, std::nan("")), y(2), shown(2);
  for (std::size_t k = 0; k < 76; ++k) {
    for (std::size_t m = 0; m < 2; ++m)
      y[m] = k < 70 ? (data.series[0].y[2 * k + m] - d.units.y_offset[m]) / d.units.y_scale[m]
                    : std::nan("");
    stream.step(state, y);
    // Some of the data are missing, too.
    for (std::size_t m = 0; m < 2; ++m) {
      const double share = state.P[10 * m] / std::pow(d.features.spread[m], 2);
      const bool missing = std::isnan(y[m]);
      shown[m] = missing && !std::isnan(last[m]) ? state.x[2 * m] : y[m];
      state.trust[2 * m] = state.trust[2 * m + 1] = missing ? 1 - std::min(1.0, share * share) : 1;
    }
    d.features.step_to(shown.data(), last.data(), state.features.data(), state.centre.data());
    if (k < 70) continue;
    std::vector<double> mean;
    for (std::size_t n = 0; n < 4; ++n)
      mean.push_back(d.units.x_offset[n] + d.units.x_scale[n] * state.x[n]);
    expect_close({found.series[0].mean.data() + 4 * (k - 70), 4}, mean, 1e-12, "mean");
  }
}

TEST(Forecast, ThatRunsAwayIsAnError) {
  const Model model = public_model(test::lorenz_case());
  Dataset data;
  data.y_names = {"x", "y", "z"};
  data.series.resize(1);
  data.series[0].steps = 1;
  data.series[0].y = {1e6, 1e6, 1e6};
  const std::string message = message_of<NumericalError>([&] { model.forecast(data, 100, 1); });
  EXPECT_EQ(message.rfind("the data, step ", 0), 0u) << message;
  EXPECT_NE(message.find("the forecast is not finite"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia
