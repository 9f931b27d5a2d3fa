#include "kalmia/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "heads/state_stream.hpp"
#include "infer/infer_cases.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::alone;
using test::expect_close;
using test::expect_same_bits;
using test::LearnedCase;
using test::motion_data;
using test::PaddedData;
using test::public_model;

const std::vector<int> kLengths = {65, 0, 300, 1, 2};

LinearModel classical_model(int channels) {
  return test::linear_model(test::static_system(test::motion_description(channels)));
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Rows first..first+steps-1 of series s of a classical result.
std::span<const double> rows(const FilterResult& result, const Array& array, std::size_t s,
                             int first, int steps, int width) {
  return {array.data() +
              (s * static_cast<std::size_t>(result.steps) + static_cast<std::size_t>(first)) *
                  static_cast<std::size_t>(width),
          static_cast<std::size_t>(steps * width)};
}

void expect_equal(const Estimates& found, const FilterResult& result, const Moments& moments,
                  double tolerance) {
  const int N = result.state_dim;
  for (std::size_t s = 0; s < found.series.size(); ++s) {
    const StateEstimates& series = found.series[s];
    const std::string what = "series " + std::to_string(s);
    expect_close(series.mean, rows(result, moments.mean, s, 0, series.steps, N), tolerance, what);
    expect_close(series.covariance, rows(result, moments.covariance, s, 0, series.steps, N * N),
                 tolerance, what);
  }
}

TEST(Model, AStaticModelsFilterIsTheKalmanFilterInTheUsersUnits) {
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kLengths, 81);
    const PaddedData padded(data);
    const Estimates found = public_model(test::static_case(channels)).filter(data, 1);
    const FilterResult expected = kalman_filter(classical_model(channels), padded.view);
    expect_equal(found, expected, expected.filtered, 1e-9);
    const double likelihood = sum_of(expected.log_likelihood);
    EXPECT_NEAR(found.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
  }
}

TEST(Model, AStaticModelsSmootherIsTheRauchTungStriebelSmoother) {
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kLengths, 82);
    const PaddedData padded(data);
    const Estimates found = public_model(test::static_case(channels)).smooth(data, 1);
    const FilterResult expected = rts_smoother(classical_model(channels), padded.view);
    expect_equal(found, expected, expected.smoothed, 1e-9);
    const double likelihood = sum_of(expected.log_likelihood);
    EXPECT_NEAR(found.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
  }
}

TEST(Model, InnovationsAreThoseOfTheKalmanFilter) {
  const Dataset data = motion_data(2, kLengths, 83);
  const PaddedData padded(data);
  const std::vector<Innovations> found = public_model(test::static_case(2)).innovations(data, 1);
  const FilterResult expected = kalman_filter(classical_model(2), padded.view);
  const reference::DenseSystem system = test::static_system(test::motion_description(2));
  ASSERT_EQ(found.size(), kLengths.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    const std::span<const double> residual =
        rows(expected, expected.innovations, s, 0, kLengths[s], 2);
    ASSERT_EQ(found[s].residual.size(), residual.size());
    for (std::size_t i = 0; i < residual.size(); ++i) {
      ASSERT_EQ(std::isnan(found[s].residual[i]), std::isnan(data.series[s].y[i]));
      if (std::isnan(residual[i])) continue;
      ASSERT_NEAR(found[s].residual[i], residual[i], 1e-8);
    }
    for (int k = 0; k < kLengths[s]; ++k) {
      using RowMatrix = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
      const Eigen::Map<const RowMatrix> P(
          rows(expected, expected.predicted.covariance, s, k, 1, 16).data());
      const test::Matrix S = system.H * P * system.H.transpose() + system.R;
      expect_close({found[s].covariance.data() + 4 * k, 4}, {S.data(), 4}, 1e-9,
                   "step " + std::to_string(k));
    }
  }
}

TEST(Model, OneAnalysisGivesWhatThreeRunsGive) {
  const Model model = public_model(test::static_case(2));
  const Dataset data = motion_data(2, kLengths, 3, 0.2);
  const Analysis analysis = model.analyse(data, 2);
  const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 1);
  const std::vector<Innovations> innovations = model.innovations(data, 1);
  EXPECT_EQ(analysis.filtered.log_likelihood, filtered.log_likelihood);
  EXPECT_EQ(analysis.smoothed.log_likelihood, smoothed.log_likelihood);
  ASSERT_EQ(analysis.innovations.size(), kLengths.size());
  for (std::size_t s = 0; s < kLengths.size(); ++s) {
    EXPECT_EQ(analysis.filtered.series[s].mean, filtered.series[s].mean);
    EXPECT_EQ(analysis.filtered.series[s].covariance, filtered.series[s].covariance);
    EXPECT_EQ(analysis.smoothed.series[s].mean, smoothed.series[s].mean);
    EXPECT_EQ(analysis.smoothed.series[s].covariance, smoothed.series[s].covariance);
    EXPECT_EQ(analysis.innovations[s].covariance, innovations[s].covariance);
    ASSERT_EQ(analysis.innovations[s].residual.size(), innovations[s].residual.size());
    for (std::size_t i = 0; i < innovations[s].residual.size(); ++i)
      EXPECT_TRUE(analysis.innovations[s].residual[i] == innovations[s].residual[i] ||
                  (std::isnan(analysis.innovations[s].residual[i]) &&
                   std::isnan(innovations[s].residual[i])));
  }
}

TEST(Model, KeysTimesAndNamesAreCarriedOver) {
  const Dataset data = motion_data(2, kLengths, 84);
  const Model model = public_model(test::static_case(2));
  std::size_t measured = 0;
  for (const Series& series : data.series)
    for (const double value : series.y) measured += std::isnan(value) ? 0 : 1;
  for (const Estimates& found : {model.filter(data, 1), model.smooth(data, 1)}) {
    EXPECT_EQ(found.key_name, "robot");
    EXPECT_EQ(found.time_name, "t");
    EXPECT_EQ(found.time_kind, TimeKind::Number);
    EXPECT_EQ(found.state_names,
              (std::vector<std::string>{"north", "north_rate", "east", "east_rate"}));
    EXPECT_EQ(found.measured_values, measured);
    ASSERT_EQ(found.series.size(), data.series.size());
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      EXPECT_EQ(found.series[s].key, data.series[s].key);
      EXPECT_EQ(found.series[s].steps, data.series[s].steps);
      EXPECT_EQ(found.series[s].t, data.series[s].t);
    }
  }
  EXPECT_TRUE(model.filter(motion_data(2, {}, 85), 1).series.empty());
}

TEST(Model, TellsItsMatricesInTheUsersUnits) {
  const Model model = public_model(test::static_case(2));
  const reference::DenseSystem system = test::static_system(test::motion_description(2));
  EXPECT_EQ(model.state_dim(), 4);
  EXPECT_EQ(model.meas_dim(), 2);
  EXPECT_EQ(model.measured_names(), (std::vector<std::string>{"north", "east"}));
  EXPECT_EQ(model.emission(std::vector<double>(4)), test::row_major(system.H));
  EXPECT_THROW(model.emission(std::vector<double>(3)), ConfigError);
  EXPECT_EQ(model.noise(), test::row_major(system.R));
  EXPECT_EQ(nlohmann::json::parse(model.info_json()).at("dt"), 0.5);
}

TEST(Model, SeriesDoNotDependOnTheirCompanyNorOnThreads) {
  const Model model = public_model(test::network_case(2, 86));
  std::vector<int> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back((i * 53) % 140);
  const Dataset data = motion_data(2, lengths, 87);
  const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 1);
  const Estimates ahead = model.forecast(data, 5, 1), samples = model.sample(data, 2, 3, 1);
  const std::vector<Innovations> innovations = model.innovations(data, 1);
  expect_same_bits(filtered, model.filter(data, 2));
  expect_same_bits(smoothed, model.smooth(data, 2));
  expect_same_bits(ahead, model.forecast(data, 5, 2));
  expect_same_bits(samples, model.sample(data, 2, 3, 2));
  const std::vector<Innovations> again = model.innovations(data, 2);
  for (std::size_t s = 0; s < lengths.size(); ++s)
    EXPECT_TRUE(test::same_bits(innovations[s].covariance, again[s].covariance));
  for (std::size_t s = 0; s < lengths.size(); s += 7) {
    const Dataset one = alone(data, s);
    const auto same = [&](const Estimates& all, const Estimates& single) {
      EXPECT_TRUE(test::same_bits(all.series[s].mean, single.series[0].mean)) << s;
      EXPECT_TRUE(test::same_bits(all.series[s].covariance, single.series[0].covariance)) << s;
    };
    same(filtered, model.filter(one, 1));
    same(smoothed, model.smooth(one, 1));
    same(ahead, model.forecast(one, 5, 1));
  }
}

TEST(Model, AForecastIsAFilterThatSeesNothingMore) {
  constexpr int kHorizon = 20;
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, kLengths, 88);
    const PaddedData padded(data, kHorizon);
    const Model model = public_model(test::static_case(channels));
    const Estimates found = model.forecast(data, kHorizon, 2);
    const FilterResult expected = kalman_filter(classical_model(channels), padded.view);
    const int N = 2 * channels;
    ASSERT_EQ(found.series.size(), kLengths.size());
    for (std::size_t s = 0; s < kLengths.size(); ++s) {
      const StateEstimates& series = found.series[s];
      EXPECT_EQ(series.key, data.series[s].key);
      ASSERT_EQ(series.steps, kHorizon);
      const std::string what = "series " + std::to_string(s);
      expect_close(series.mean, rows(expected, expected.filtered.mean, s, kLengths[s], kHorizon, N),
                   1e-9, what);
      expect_close(series.covariance,
                   rows(expected, expected.filtered.covariance, s, kLengths[s], kHorizon, N * N),
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

TEST(Model, TheTimesOfAForecastGoOnByTheStep) {
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
TEST(Model, AForecastFeedsPredictionsBack) {
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

TEST(Model, SamplesAreInTheUsersUnits) {
  constexpr int kCount = 4000;
  const Dataset data = motion_data(2, {5, 12}, 92);
  const Model model = public_model(test::static_case(2));
  const Estimates samples = model.sample(data, kCount, 7, 2), smoothed = model.smooth(data, 1);
  ASSERT_EQ(samples.series.size(), 2u * kCount);
  EXPECT_EQ(samples.log_likelihood, smoothed.log_likelihood);
  const std::size_t size = 12 * 4;
  std::vector<double> mean(size), lag(size);
  for (std::size_t c = 0; c < kCount; ++c) {
    const StateEstimates& path = samples.series[kCount + c];
    ASSERT_EQ(path.mean.size(), size);
    ASSERT_TRUE(path.covariance.empty());
    for (std::size_t i = 0; i < size; ++i) mean[i] += path.mean[i] / kCount;
  }
  const StateEstimates& truth = smoothed.series[1];
  std::vector<double> variance(size);
  for (std::size_t i = 0; i < size; ++i) variance[i] = truth.covariance[4 * i + i % 4];
  for (std::size_t i = 0; i < size; ++i)
    EXPECT_NEAR(mean[i], truth.mean[i], 4 * std::sqrt(variance[i] / kCount)) << i;
  // Between neighbouring steps too the states vary together.
  const test::Matrix joint = test::joint_covariance(
      test::static_system(test::motion_description(2)), test::vectors(data.series[1].y, 2));
  for (std::size_t c = 0; c < kCount; ++c) {
    const std::vector<double>& path = samples.series[kCount + c].mean;
    for (std::size_t i = 4; i < size; ++i)
      lag[i] += (path[i] - mean[i]) * (path[i - 4] - mean[i - 4]) / kCount;
  }
  for (std::size_t i = 4; i < size; ++i) {
    const auto j = static_cast<Eigen::Index>(i);
    const double error =
        std::sqrt((joint(j, j) * joint(j - 4, j - 4) + joint(j, j - 4) * joint(j, j - 4)) / kCount);
    EXPECT_NEAR(lag[i], joint(j, j - 4), 4 * error) << i;
  }
}

TEST(Model, SamplesFollowFromTheSeed) {
  const Dataset data = motion_data(1, {5, 3}, 93);
  const Model model = public_model(test::network_case(1, 94));
  const Estimates a = model.sample(data, 3, 7, 1);
  expect_same_bits(a, model.sample(data, 3, 7, 1));
  const Estimates other = model.sample(data, 3, 8, 1);
  for (std::size_t s = 0; s < 6; ++s) EXPECT_NE(a.series[s].mean[0], other.series[s].mean[0]);
  // More of them begin with the same ones.
  const Estimates more = model.sample(data, 5, 7, 1);
  EXPECT_EQ(a.series[2].mean, more.series[2].mean);
  EXPECT_EQ(a.series[3].mean, more.series[5].mean);
  EXPECT_EQ(a.series[0].key, "r1#1");
  EXPECT_EQ(a.series[5].key, "r2#3");
  EXPECT_EQ(a.series[5].t, data.series[1].t);
  EXPECT_NE(a.series[0].mean, a.series[1].mean);
  // Series do not share their random numbers.
  Dataset twins = data;
  twins.series = {data.series[0], data.series[0]};
  const Estimates apart = model.sample(twins, 1, 7, 1);
  EXPECT_NE(apart.series[0].mean, apart.series[1].mean);
  Dataset keyless = alone(data, 0);
  keyless.key_name = keyless.series[0].key = "";
  const Estimates named = model.sample(keyless, 2, 7, 1);
  EXPECT_EQ(named.key_name, "sample");
  EXPECT_EQ(named.series[1].key, "2");
}

TEST(Model, WhatCannotBeAskedForIsRefused) {
  const Model model = public_model(test::static_case(1));
  const Dataset data = motion_data(1, {3}, 95);
  EXPECT_EQ(message_of<ConfigError>([&] { model.forecast(data, 0, 1); }),
            "horizon = 0, but it must be >= 1");
  EXPECT_EQ(message_of<ConfigError>([&] { model.sample(data, 0, 1, 1); }),
            "count = 0, but it must be >= 1");
}

TEST(Model, DataThatDoNotFitAreRefused) {
  const Model model = public_model(test::static_case(2));
  EXPECT_EQ(message_of<DataError>([&] { model.filter(motion_data(1, {3}, 96), 1); }),
            "walk.csv: the data have 1 measured columns, but the model has 2 (north, east); name "
            "them with --measure");
  Dataset data = motion_data(2, {3, 6}, 97);
  data.series[1].y[2 * 4 + 1] = -std::numeric_limits<double>::infinity();
  const std::string infinite = message_of<DataError>([&] { model.smooth(data, 1); });
  EXPECT_EQ(infinite,
            "walk.csv, series \"r2\", step 5, column east: the value is infinite; leave it empty "
            "to mark it as missing");
  EXPECT_EQ(message_of<DataError>([&] { model.forecast(data, 1, 1); }), infinite);
  EXPECT_EQ(message_of<DataError>([&] { model.sample(data, 1, 1, 1); }), infinite);
  EXPECT_EQ(message_of<DataError>([&] { model.innovations(data, 1); }), infinite);
  data.series[1].y.pop_back();
  EXPECT_NE(
      message_of<DataError>([&] { model.filter(data, 1); }).find("has 11 values, but 6 steps"),
      std::string::npos);
}

TEST(Model, ABreakdownNamesSeriesAndStep) {
  const Model model = public_model(test::network_case(2, 98));
  Dataset data = motion_data(2, {90, 50, 130}, 99);
  data.series[1].y[2 * 40] = 1e200;
  const auto expect_named = [](const std::string& message) {
    EXPECT_EQ(message.rfind("walk.csv, series \"r2\", step 41: ", 0), 0u) << message;
  };
  expect_named(message_of<NumericalError>([&] { model.filter(data, 1); }));
  expect_named(message_of<NumericalError>([&] { model.smooth(data, 2); }));
  expect_named(message_of<NumericalError>([&] { model.sample(data, 1, 1, 1); }));
  expect_named(message_of<NumericalError>([&] { model.innovations(data, 1); }));
  expect_named(message_of<NumericalError>([&] { model.forecast(data, 1, 2); }));
}

TEST(Model, AForecastThatRunsAwayIsAnError) {
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

TEST(Model, AFileGivesTheSameModel) {
  const ScratchFolder folder;
  const Model model = public_model(test::network_case(2, 100));
  model.save(folder.file("m.kalmia"));
  const Model loaded = Model::load(folder.file("m.kalmia"));
  const Dataset data = motion_data(2, {80, 10}, 101);
  expect_same_bits(model.smooth(data, 1), loaded.smooth(data, 1));
  EXPECT_EQ(model.info_json(), loaded.info_json());
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_THROW(Model::load(folder.file("none.kalmia")), IoError);
  EXPECT_THROW(model.save(folder.file("none/m.kalmia")), IoError);
  const std::string csv = folder.file("data.csv", "t,y\n0,1\n");
  const std::string message = message_of<DataError>([&] { Model::load(csv); });
  EXPECT_NE(message.find("data.csv: not a Kalmia model"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia
