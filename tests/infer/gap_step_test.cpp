#include "infer/gap_step.hpp"

#include <gtest/gtest.h>

#include "infer/infer_cases.hpp"
#include "support/encoders.hpp"

namespace kalmia::infer {
namespace {

using test::LearnedCase;

const double kMissing = std::nan("");
const double kWanders = std::numeric_limits<double>::infinity();

// Two channels of constant velocity; values of the first spread by 50, of the second wander.
LearnedCase with_climate(LearnedCase made) {
  model::StateClimate& climate = made.description.climate;
  climate.mean = {10, 1, 0, -2};
  climate.spread = {50, 30, kWanders, 40};
  climate.measured_spread = {50, kWanders};
  climate.A.assign(16, 0);
  climate.Q.assign(16, 0);
  const int known[] = {0, 1, 3};
  for (const int i : known) {
    for (const int j : known) climate.A[std::size_t(4 * i + j)] = i == j ? 0.8 : 0.05 * (i - j);
    climate.Q[std::size_t(5 * i)] = 100;
  }
  return made;
}

std::vector<double> diagonal(const std::vector<double>& variances) {
  std::vector<double> P(16);
  for (std::size_t i = 0; i < 4; ++i) P[5 * i] = variances[i];
  return P;
}

TEST(GapStep, WhatIsMeasuredIsShownAndTrusted) {
  const auto model = with_climate(test::network_case(2, 5)).make<float>();
  GapStep gap(2);
  const double y[] = {3, 4}, last[] = {kMissing, 1}, x[] = {1, 2, 3, 4};
  gap.set(*model, y, last, x, diagonal({1e9, 1e9, 1e9, 1e9}).data());
  EXPECT_EQ(gap.shown, (std::vector<double>{3, 4}));
  EXPECT_EQ(gap.trust, (std::vector<double>{1, 1}));
  EXPECT_EQ(gap.lost, 0);
}

TEST(GapStep, AMissingValueIsPredictedAndTrustedByItsVariance) {
  const auto model = with_climate(test::network_case(2, 5)).make<float>();
  GapStep gap(2);
  const double y[] = {kMissing, 4}, last[] = {0, 1}, x[] = {17, 2, 3, 4};
  gap.set(*model, y, last, x, diagonal({625, 1e9, 1e9, 1e9}).data());
  EXPECT_EQ(gap.shown, (std::vector<double>{17, 4}));
  EXPECT_NEAR(gap.trust[0], 1 - std::pow(625.0 / 10000, 2), 1e-15);  // the data spread by 100
  EXPECT_EQ(gap.trust[1], 1);
  EXPECT_NEAR(gap.lost, 0.25 * 0.25, 1e-15);
  gap.set(*model, y, last, x, diagonal({2500, 0, 0, 0}).data());
  EXPECT_EQ(gap.lost, 1);
  gap.set(*model, y, last, x, diagonal({kMissing, 0, 0, 0}).data());
  EXPECT_EQ(gap.trust[0], 0);
  EXPECT_EQ(gap.lost, 1);
}

TEST(GapStep, AModelMayNotTrustItsNetworksInGaps) {
  LearnedCase made = with_climate(test::network_case(2, 5));
  made.description.gap_trust = 0;
  const auto model = made.make<float>();
  GapStep gap(2);
  const double y[] = {kMissing, 4}, last[] = {0, 1}, x[] = {17, 2, 3, 4};
  gap.set(*model, y, last, x, diagonal({625, 1, 1, 1}).data());
  EXPECT_TRUE(std::isnan(gap.shown[0]));
  EXPECT_EQ(gap.shown[1], 4);
  EXPECT_EQ(gap.trust, (std::vector<double>{0, 1}));
  EXPECT_NEAR(gap.lost, 0.25 * 0.25, 1e-15);
}

TEST(GapStep, WhatWandersIsNeverLostButTrustedLess) {
  const auto model = with_climate(test::network_case(2, 5)).make<float>();
  GapStep gap(2);
  const double y[] = {3, kMissing}, last[] = {0, 1}, x[] = {17, 2, 33, 4};
  gap.set(*model, y, last, x, diagonal({1, 1, 1600, 1}).data());
  EXPECT_EQ(gap.shown[1], 33);
  EXPECT_NEAR(gap.trust[1], 1 - 0.16 * 0.16, 1e-15);
  EXPECT_EQ(gap.lost, 0);
  gap.set(*model, y, last, x, diagonal({1, 1, 1e12, 1}).data());
  EXPECT_EQ(gap.trust[1], 0);
  EXPECT_EQ(gap.lost, 0);
}

TEST(GapStep, WhatWasNeverSeenIsNotShown) {
  const auto model = with_climate(test::network_case(2, 5)).make<float>();
  GapStep gap(2);
  const double y[] = {kMissing, kMissing}, last[] = {kMissing, 1}, x[] = {17, 2, 33, 4};
  gap.set(*model, y, last, x, diagonal({2500, 1, 1, 1}).data());
  EXPECT_TRUE(std::isnan(gap.shown[0]));
  EXPECT_EQ(gap.shown[1], 33);
  // Its first value is still to come: it is in no gap, and the map holds.
  EXPECT_EQ(gap.lost, 0);
  const double nothing[] = {kMissing, kMissing}, other[] = {kMissing, 4};
  gap.set(*model, other, nothing, x, diagonal({2500, 1, 1, 1}).data());
  EXPECT_EQ(gap.lost, 0);
  // Before any measurement a state may be anywhere.
  gap.set(*model, nothing, nothing, x, diagonal({2500, 1, 1, 1}).data());
  EXPECT_EQ(gap.lost, 1);
}

// Which models care: a linear map alone spreads as theory says.
TEST(GapStep, ALinearMapAloneDoesNotMindGaps) {
  EXPECT_FALSE(with_climate(test::static_case(2)).make<float>()->minds_gaps());
  EXPECT_TRUE(test::network_case(2, 5).make<float>()->minds_gaps());
  EXPECT_FALSE(test::lorenz_case().make<float>()->minds_gaps());
  LearnedCase recurrent = test::network_case(2, 5);
  recurrent.description.head = heads::HeadKind::Direct;
  recurrent.parameters.resize(
      std::size_t(test::architecture_of(recurrent.description).parameters.size()));
  EXPECT_FALSE(recurrent.make<float>()->minds_gaps());
}

// Empty rows after the data.
Dataset with_gap(Dataset data, int rows) {
  for (Series& series : data.series)
    for (int k = 0; k < rows; ++k, ++series.steps) {
      if (!series.t.empty()) series.t.push_back(series.t.back() + 0.5);
      series.y.insert(series.y.end(), data.y_names.size(), kMissing);
    }
  return data;
}

// The filter over empty rows, and a stream over them, against the forecast: in deviations.
void expect_gap_is_forecast(const Model& model, const Dataset& data, double tolerance) {
  constexpr int kRows = 50;
  const auto N = static_cast<std::size_t>(model.state_dim());
  const Estimates ahead = model.forecast(data, kRows, 1);
  const Dataset longer = with_gap(data, kRows);
  const Estimates gap = model.filter(longer, 1);
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Series& series = longer.series[s];
    Stream stream = model.stream();
    Stream::State state = stream.start();
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
      stream.step(state, std::span(series.y).subspan(k * data.y_names.size(), data.y_names.size()));
      if (k < static_cast<std::size_t>(data.series[s].steps)) continue;
      const std::size_t h = k - static_cast<std::size_t>(data.series[s].steps);
      for (std::size_t n = 0; n < N; ++n) {
        const double variance = ahead.series[s].covariance[(h * N + n) * N + n];
        const double deviation = std::sqrt(variance);
        const double mean = ahead.series[s].mean[h * N + n];
        const std::size_t at = k * N + n;
        ASSERT_NEAR(gap.series[s].mean[at], mean, tolerance * deviation) << s << ", " << h;
        ASSERT_NEAR(stream.mean()[n], mean, tolerance * deviation) << s << ", " << h;
        ASSERT_NEAR(gap.series[s].covariance[at * N + n], variance, 2 * tolerance * variance);
        ASSERT_NEAR(stream.covariance()[n * N + n], variance, 2 * tolerance * variance);
      }
    }
  }
}

constexpr double kExact = 1e-11, kClose = 1e-3;

TEST(AGapIsAForecast, OfStaticModels) {
  const Dataset data = test::motion_data(2, {60, 7, 40}, 11);
  expect_gap_is_forecast(test::public_model(test::static_case(2)), data, kExact);
  LearnedCase student = test::static_case(2);
  student.description.tails = 3;
  expect_gap_is_forecast(test::public_model(student), data, kExact);
}

TEST(AGapIsAForecast, OfNonlinearMapsInTheirClimate) {
  LearnedCase made = test::lorenz_case();
  made.description.time = TimeKind::None;
  model::StateClimate& climate = made.description.climate;
  climate.mean = {0, 0, 24};
  climate.spread = climate.measured_spread = {100, 110, 90};
  climate.A = {0.9, 0.02, 0, 0, 0.9, 0, 0, 0, 0.9};
  climate.Q = {1800, 0, 0, 0, 2200, 0, 0, 0, 1500};
  Dataset data;
  data.y_names = {"x", "y", "z"};
  RandomStream random(3, "around the wings");
  Series& series = data.series.emplace_back();
  series.steps = 40;
  for (int k = 0; k < 40; ++k)
    series.y.insert(series.y.end(),
                    {8 + random.normal(), 8 + random.normal(), 27 + random.normal()});
  const Model model = test::public_model(made);
  expect_gap_is_forecast(model, data, kExact);
  // It stays there, and becomes the climate.
  const Estimates far = model.forecast(data, 3000, 1);
  for (std::size_t n = 0; n < 3; ++n) {
    const double* last = far.series[0].covariance.data() + 2999 * 9;
    EXPECT_LE(std::sqrt(last[4 * n]), climate.spread[n] * (1 + 1e-12));
    EXPECT_GE(std::sqrt(last[4 * n]), 0.5 * climate.spread[n]);
    EXPECT_NEAR(far.series[0].mean[2999 * 3 + n], climate.mean[n], 0.1 * climate.spread[n]);
  }
}

TEST(AGapIsAForecast, OfNetworks) {
  const Dataset data = test::motion_data(2, {60, 7, 40}, 12);
  test::for_each_encoder([&](nn::EncoderKind encoder) {
    LearnedCase made = test::network_case(2, 13, encoder);
    expect_gap_is_forecast(test::public_model(made), data, kClose);
    made = with_climate(made);
    expect_gap_is_forecast(test::public_model(made), data, kClose);
    made.description.tails = 4;
    expect_gap_is_forecast(test::public_model(made), data, kClose);
    made.description.gap_trust = 0;
    expect_gap_is_forecast(test::public_model(made), data, kClose);
  });
}

TEST(AGapIsAForecast, OfCalibratedEnsembles) {
  const Dataset data = test::motion_data(2, {60, 30}, 14);
  std::vector<test::Member> members;
  for (const std::uint64_t seed : {15, 16, 17})
    members.push_back(with_climate(test::network_case(2, seed)).make<float>());
  model::Calibration calibration{1.7, 1.3, 1};
  calibration.filter.steps = {1, 5, 20};
  calibration.filter.factors = {{0.7, 2, 4}, {1.7, 0.5, 3}};
  expect_gap_is_forecast(test::model_of(members, calibration), data, kClose);
}

// In a gap of one channel only.
TEST(AGapIsAForecast, OfTheChannelThatIsMissing) {
  Dataset data = test::motion_data(2, {300}, 18, 0);
  const Model model = test::public_model(with_climate(test::network_case(2, 15)));
  for (std::size_t k = 20; k < 300; ++k) data.series[0].y[2 * k] = kMissing;
  const Estimates found = model.filter(data, 1);
  const double scale = 0.25;  // of north
  for (std::size_t k = 21; k < 300; ++k) {
    EXPECT_LE(std::sqrt(found.series[0].covariance[16 * k]), scale * 50 * (1 + 1e-9));
    EXPECT_LT(std::sqrt(found.series[0].covariance[16 * k + 10]), 4 * 45);  // measured
  }
  // The smoother goes back through it.
  const Estimates smoothed = model.smooth(data, 1);
  for (std::size_t i = 0; i < 300 * 4; ++i)
    EXPECT_GT(smoothed.series[0].covariance[16 * (i / 4) + 5 * (i % 4)], 0);
}

}  // namespace
}  // namespace kalmia::infer
