#include "kalmia/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "model/stream.hpp"
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

// Times between steps that differ: some shorter than usual, some much longer, one usual.
Dataset irregular_data(int channels, const std::vector<int>& lengths, std::uint64_t seed) {
  Dataset data = motion_data(channels, lengths, seed);
  RandomStream random(seed, "times");
  for (Series& series : data.series) {
    double t = 10;
    for (double& each : series.t) {
      each = t;
      t += random.uniform() < 0.2 ? 0.5 : std::exp(random.uniform(-3, 2));
    }
  }
  return data;
}

// The recursion of static_case, step by step: F and Q are those of the time that has passed.
struct NaiveRun {
  std::vector<reference::Gaussian> predicted, filtered, smoothed;
  double log_likelihood = 0;
};
reference::Matrix naive_F(const reference::DenseSystem& system, double dt) {
  reference::Matrix F = system.F;
  for (int n = 0; n < F.rows(); n += 2) F(n, n + 1) = dt;
  return F;
}
NaiveRun naive_run(int channels, const Series& series) {
  const model::ModelDescription d = test::motion_description(channels);
  const reference::DenseSystem system = test::static_system(d);
  const std::vector<reference::Vector> y = test::vectors(series.y, channels);
  NaiveRun run;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double dt = k == 0 ? 0 : series.t[k] - series.t[k - 1];
    run.predicted.push_back(k == 0 ? system.initial
                                   : reference::predict(run.filtered[k - 1], naive_F(system, dt),
                                                        system.e, system.Q * (dt / d.dt)));
    const reference::Update update = reference::update(run.predicted[k], y[k], system.H, system.R);
    run.filtered.push_back(update.filtered);
    run.log_likelihood -= 0.5 * (update.nll + update.observed * std::log(2 * std::numbers::pi));
  }
  run.smoothed = run.filtered;
  for (std::size_t k = y.size(); k-- > 1;) {
    const reference::Matrix F = naive_F(system, series.t[k] - series.t[k - 1]);
    const reference::Matrix J =
        run.filtered[k - 1].cov * F.transpose() * run.predicted[k].cov.inverse();
    reference::Gaussian& to = run.smoothed[k - 1];
    to.mean += J * (run.smoothed[k].mean - run.predicted[k].mean);
    to.cov += J * (run.smoothed[k].cov - run.predicted[k].cov) * J.transpose();
  }
  return run;
}

void expect_equal(const StateEstimates& found, const std::vector<reference::Gaussian>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(found.steps, static_cast<int>(expected.size()));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const auto N = static_cast<std::size_t>(expected[k].mean.size());
    const std::string where = what + ", step " + std::to_string(k);
    expect_close({found.mean.data() + k * N, N}, {expected[k].mean.data(), N}, tolerance, where);
    expect_close({found.covariance.data() + k * N * N, N * N}, {expected[k].cov.data(), N * N},
                 tolerance, where);
  }
}

TEST(Model, StepsOfAnyLengthFollowTheTimes) {
  for (const int channels : {1, 2}) {
    const Dataset data = irregular_data(channels, kLengths, 121);
    const Model model = public_model(test::static_case(channels));
    const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 2);
    double likelihood = 0;
    for (std::size_t s = 0; s < kLengths.size(); ++s) {
      const NaiveRun naive = naive_run(channels, data.series[s]);
      const std::string what = "series " + std::to_string(s);
      expect_equal(filtered.series[s], naive.filtered, 1e-9, what);
      expect_equal(smoothed.series[s], naive.smoothed, 1e-9, what);
      EXPECT_EQ(filtered.series[s].t, data.series[s].t);
      likelihood += naive.log_likelihood;
    }
    EXPECT_NEAR(filtered.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
    // They matter: with the usual steps it would be another result.
    const Dataset usual = motion_data(channels, kLengths, 121);
    EXPECT_GT(std::abs(model.filter(usual, 1).log_likelihood - likelihood), 1);
  }
}

TEST(Model, AnotherRegularStepIsALengthLikeAnyOther) {
  Dataset data = motion_data(2, {40}, 122);
  for (double& t : data.series[0].t) t = 10 + 3 * (t - 10);
  const Model model = public_model(test::static_case(2));
  expect_equal(model.filter(data, 1).series[0], naive_run(2, data.series[0]).filtered, 1e-9,
               "three times the step");
  // A forecast goes on by the data's step, not by the model's.
  const Estimates ahead = model.forecast(data, 2, 1);
  EXPECT_EQ(ahead.series[0].t, (std::vector<double>{10 + 1.5 * 40, 10 + 1.5 * 41}));
  Series longer = data.series[0];
  longer.t.insert(longer.t.end(), ahead.series[0].t.begin(), ahead.series[0].t.end());
  longer.y.resize(longer.y.size() + 4, std::nan(""));
  std::vector<reference::Gaussian> expected = naive_run(2, longer).filtered;
  expected.erase(expected.begin(), expected.end() - 2);
  expect_equal(ahead.series[0], expected, 1e-9, "forecast");
  // Times that waver by less than a hundredth of a step are regular.
  Dataset wavering = motion_data(2, {40}, 122), regular = wavering;
  for (std::size_t k = 0; k < 40; k += 2) wavering.series[0].t[k] += 0.002;
  const Estimates a = model.filter(wavering, 1), b = model.filter(regular, 1);
  EXPECT_TRUE(test::same_bits(a.series[0].mean, b.series[0].mean));
}

// One channel that stays where it is.
LearnedCase position_case() {
  model::ModelDescription d = test::motion_description(1);
  d.prior.name = "constant-position";
  d.units.x_scale = d.units.y_scale;
  d.units.x_offset = d.units.y_offset;
  return test::static_case(d);
}

TEST(Model, ADroppedRowIsAMissingRow) {
  const Model model = public_model(position_case());
  Dataset full = motion_data(1, {60}, 123, 0), dropped = full;
  dropped.series[0].y.clear();
  dropped.series[0].t.clear();
  std::vector<std::size_t> kept;
  Series &rows = full.series[0], &fewer = dropped.series[0];
  for (std::size_t k = 0; k < 60; ++k) {
    if (k % 7 == 3 || (k > 20 && k < 28)) {
      rows.y[k] = std::nan("");
      continue;
    }
    kept.push_back(k);
    fewer.y.push_back(rows.y[k]);
    fewer.t.push_back(rows.t[k]);
  }
  fewer.steps = static_cast<int>(kept.size());
  ASSERT_LT(fewer.steps, 50);
  for (const bool smooth : {false, true}) {
    const Estimates all = smooth ? model.smooth(full, 1) : model.filter(full, 1);
    const Estimates some = smooth ? model.smooth(dropped, 1) : model.filter(dropped, 1);
    EXPECT_NEAR(all.log_likelihood, some.log_likelihood, 1e-10 * std::abs(all.log_likelihood));
    EXPECT_EQ(all.measured_values, some.measured_values);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const double P = all.series[0].covariance[kept[i]];
      EXPECT_NEAR(some.series[0].mean[i], all.series[0].mean[kept[i]], 1e-12 * std::sqrt(P));
      EXPECT_NEAR(some.series[0].covariance[i], P, 1e-12 * P);
    }
  }
}

// Position and velocity, pushed by the second of two inputs, by the user's equations.
LearnedCase pushed_case() {
  model::ModelDescription d = test::unscaled(test::motion_description(1));
  d.dt = 0.5;
  d.input_names = {"wind", "push"};
  d.prior.name = "system";
  System& system = d.prior.system;
  system.states = {"north", "speed"};
  system.inputs = {"push"};
  system.parameters = {{"gain", 3}};
  system.next = {{"north", "north + dt*speed"}, {"speed", "speed + gain*dt*push"}};
  d.features.u_mean = {0, 0};
  d.features.u_spread = {1, 1};
  return test::static_case(d);
}
Dataset pushed_data(std::uint64_t seed) {
  Dataset data = irregular_data(1, {70}, seed);
  data.u_names = {"wind", "push"};
  RandomStream random(seed, "push");
  for (int i = 0; i < 140; ++i) data.series[0].u.push_back(20 * random.normal());
  return data;
}

// What is put in at k acts on the step to k + 1; after the end the last inputs go on.
TEST(Model, InputsDriveTheStepsAfterThem) {
  const Dataset data = pushed_data(125);
  const Series& series = data.series[0];
  const Model model = public_model(pushed_case());
  EXPECT_EQ(model.input_names(), (std::vector<std::string>{"wind", "push"}));
  const reference::DenseSystem system =
      test::static_system(test::unscaled(test::motion_description(1)));
  const auto predicted = [&](const reference::Gaussian& from, double dt, double push) {
    return reference::predict(from, naive_F(system, dt), reference::Vector{{0, 3 * dt * push}},
                              system.Q * (dt / 0.5));
  };
  std::vector<reference::Gaussian> filtered, ahead;
  for (std::size_t k = 0; k < 70; ++k) {
    const reference::Gaussian before =
        k == 0 ? system.initial
               : predicted(filtered[k - 1], series.t[k] - series.t[k - 1], series.u[2 * k - 1]);
    filtered.push_back(
        reference::update(before, reference::Vector{{series.y[k]}}, system.H, system.R).filtered);
  }
  expect_equal(model.filter(data, 1).series[0], filtered, 1e-9, "filter");
  for (int h = 0; h < 3; ++h)
    ahead.push_back(
        predicted(h == 0 ? filtered.back() : ahead.back(), data.step_size(), series.u.back()));
  expect_equal(model.forecast(data, 3, 1).series[0], ahead, 1e-9, "forecast");
  // The stream is told the inputs with the measurement they belong to.
  Stream stream = model.stream();
  Stream::State state = stream.start();
  for (std::size_t k = 0; k < 70; ++k) {
    stream.step(state, {series.y.data() + k, 1},
                k == 0 ? std::nan("") : series.t[k] - series.t[k - 1],
                {series.u.data() + 2 * k, 2});
    expect_close(stream.mean(), {filtered[k].mean.data(), 2}, 1e-9, "stream");
  }
}

TEST(Model, DataWithoutTheInputsAreRefused) {
  const Model model = public_model(pushed_case());
  EXPECT_EQ(message_of<DataError>([&] { model.filter(irregular_data(1, {5}, 126), 1); }),
            "walk.csv: the data have 0 input columns, but the model has 2 (wind, push); name them "
            "with --inputs");
}

TEST(Model, TimeThatDoesNotRiseIsRefused) {
  const Model model = public_model(test::static_case(1));
  Dataset data = motion_data(1, {5, 20}, 124, 0);
  data.series[1].t[7] = data.series[1].t[6];
  EXPECT_EQ(
      message_of<DataError>([&] { model.filter(data, 1); }),
      "walk.csv, series \"r2\", step 8: the time is 13 after 13, but time must rise from step "
      "to step");
}

TEST(Model, IteratedSmoothingOfALinearModelSettlesAtOnce) {
  const Dataset data = motion_data(2, kLengths, 3, 0.2);
  const Model model = public_model(test::static_case(2));
  const Estimates once = model.smooth(data, 1), again = model.smooth(data, 2, {"linearized", 5});
  for (std::size_t s = 0; s < kLengths.size(); ++s)
    EXPECT_EQ(again.series[s].mean, once.series[s].mean);
}

// With a map that bends, the second pass linearises it where the state was, not where the filter
// thought it was.
TEST(Model, IteratedSmoothingComesNearerToTheTruth) {
  SimulateOptions options;
  options.steps = 2000;
  const Dataset data = simulate("lorenz", options);
  FitOptions fitting;
  fitting.model.prior = "lorenz";
  fitting.model.flow = "rk4";
  fitting.model.substeps = 2;
  fitting.model.noise = "0.5";
  fitting.model.hidden = 0;
  fitting.train.threads = 1;
  const Model model = fit(data, fitting).model;
  const auto error = [&](int iterations) {
    const Estimates found = model.smooth(data, 1, {"linearized", iterations});
    double sum = 0;
    for (std::size_t i = 0; i < found.series[0].mean.size(); ++i) {
      const double d = found.series[0].mean[i] - data.series[0].x[i];
      sum += d * d;
    }
    return sum;
  };
  const double once = error(0), thrice = error(3);
  EXPECT_LT(thrice, 0.9 * once);
  EXPECT_NEAR(error(20), thrice, 0.05 * thrice);
}

TEST(Model, SmoothersThatCannotBeAreRefused) {
  const Dataset data = motion_data(2, {5}, 3, 0);
  const Model model = public_model(test::static_case(2));
  EXPECT_THROW(model.smooth(data, 1, {"backwards", 0}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"fused", 0}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"auto", -1}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"fused", 3}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"recurrent", 0}), ConfigError);
  EXPECT_FALSE(model.leak(data).has_value());
}

// A filter without recursion, whose networks do something.
test::LearnedCase recurrent_case(std::uint64_t seed) {
  test::LearnedCase made = test::network_case(2, seed);
  made.description.recursive = false;
  const model::Architecture architecture = test::architecture_of(made.description);
  made.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
  model::initialise(architecture, seed, 30, 100, made.parameters.data());
  RandomStream random(seed, "recurrent");
  for (double& p : made.parameters) p = static_cast<float>(p + 0.08 * random.normal());
  return made;
}

Model with_smoother(const test::LearnedCase& made, model::SmootherKind kind) {
  auto learned = made.make<float>();
  test::give_smoother(*learned, 17, kind);
  return Model(std::make_shared<Model::Impl>(Model::Impl{std::move(learned)}));
}

TEST(Model, ARecurrentFilterStreamsAsItFilters) {
  const Dataset data = motion_data(2, {70}, 21);
  const Model model = public_model(recurrent_case(20));
  const Estimates batch = model.filter(data);
  Stream stream = model.stream();
  Stream::State state = stream.start();
  double log_likelihood = 0;
  for (std::size_t k = 0; k < 70; ++k) {
    stream.step(state, std::span(data.series[0].y).subspan(2 * k, 2));
    log_likelihood += stream.log_likelihood();
    expect_close(stream.mean(), std::span(batch.series[0].mean).subspan(4 * k, 4), 1e-4, "mean");
    expect_close(stream.covariance(), std::span(batch.series[0].covariance).subspan(16 * k, 16),
                 1e-3, "covariance");
  }
  EXPECT_NEAR(log_likelihood, batch.log_likelihood, 1e-3 * std::abs(log_likelihood));
}

// Positions wander: what is far away is estimated as well as what is near.
TEST(Model, ARecurrentFilterIsRelativeToTheLastValues) {
  const Model model = public_model([] {
    test::LearnedCase made = recurrent_case(22);
    std::ranges::fill(made.description.features.use_level, 0);
    const model::Architecture architecture = test::architecture_of(made.description);
    made.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
    return made;
  }());
  const Dataset near = motion_data(2, {40}, 23);
  Dataset far = near;
  for (double& y : far.series[0].y) y += 4096;
  const Estimates a = model.filter(near), b = model.filter(far);
  for (std::size_t k = 3; k < 40; ++k)
    for (std::size_t n = 0; n < 4; ++n)
      ASSERT_NEAR(b.series[0].mean[4 * k + n] - (n % 2 == 0 ? 4096 : 0),
                  a.series[0].mean[4 * k + n], 1e-6);
}

TEST(Model, WhatARecurrentFilterCannotGiveIsSaid) {
  const Dataset data = motion_data(2, {30}, 24);
  const Model model = public_model(recurrent_case(25));
  // Nothing leads back from a state to the one before: smoothed is filtered.
  const Estimates smoothed = model.smooth(data), filtered = model.filter(data);
  expect_close(smoothed.series[0].mean, filtered.series[0].mean, 1e-12, "mean");
  expect_close(smoothed.series[0].covariance, filtered.series[0].covariance, 1e-12, "covariance");
  EXPECT_EQ(message_of<ConfigError>([&] {
              model.smooth(data, 1, {"linearized", 3});
            }),
            "iterations = 3, but a recurrent filter has no expert map to linearise again");
  EXPECT_NE(message_of<ConfigError>([&] { model.sample(data, 2, 1); }).find("recurrent filter"),
            std::string::npos);
}

TEST(Model, ARecurrentFilterForecastsAsThroughAGap) {
  Dataset data = motion_data(2, {30}, 26);
  const Model model = public_model(recurrent_case(27));
  const Estimates forecast = model.forecast(data, 6);
  Series& series = data.series[0];
  for (int k = 0; k < 6; ++k) {
    series.t.push_back(series.t.back() + 0.5);
    series.y.insert(series.y.end(), 2, std::nan(""));
  }
  series.steps += 6;
  const Estimates gap = model.filter(data);
  expect_close(forecast.series[0].mean, std::span(gap.series[0].mean).subspan(4 * 30), 1e-4,
               "mean");
}

TEST(Model, TheTrainedSmootherIsTheOneThatIsUsed) {
  const Dataset data = motion_data(2, {90, 700}, 28);
  for (const model::SmootherKind kind :
       {model::SmootherKind::Recurrent, model::SmootherKind::Recursive,
        model::SmootherKind::RecursiveAlternative}) {
    const Model model = with_smoother(test::network_case(2, 29), kind);
    const std::string method = kind == model::SmootherKind::Recurrent ? "recurrent" : "recursive";
    const Estimates smoothed = model.smooth(data, 1, {method});
    expect_same_bits(smoothed, model.smooth(data, 2));
    EXPECT_NE(smoothed.series[0].mean, model.smooth(data, 1, {"linearized"}).series[0].mean);
    ASSERT_TRUE(model.leak(data).has_value());
    EXPECT_EQ(message_of<ConfigError>([&] { model.smooth(data, 1, {"fused"}); }),
              "method = \"fused\", but the model has no fused smoother, it has a " +
                  std::string(smoother_name(kind)) + " one; fit it with smoother = fused");
    EXPECT_EQ(message_of<ConfigError>([&] {
                model.smooth(data, 1, {method, 2});
              }),
              "iterations = 2, but only the linearized smoother is iterated");
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
  EXPECT_EQ(model.emission(), test::row_major(system.H));
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
  EXPECT_TRUE(model.forecast(untimed, 2, 1).series[0].t.empty());
}

// With networks, the prediction of y is what they read and what the residual is centred at.
TEST(Model, AForecastFeedsPredictionsBack) {
  const LearnedCase made = test::network_case(2, 90);
  const Dataset data = motion_data(2, {70}, 91);
  const Estimates found = public_model(made).forecast(data, 6, 1);
  const auto learned = made.make<float>();
  const model::ModelDescription& d = learned->description();
  model::FilterStream<float> stream(learned->window(), learned->parameters());
  model::StreamState<float> state = stream.start();
  std::vector<double> last(2, std::nan("")), y(2), shown(2);
  for (std::size_t k = 0; k < 76; ++k) {
    for (std::size_t m = 0; m < 2; ++m)
      y[m] = k < 70 ? (data.series[0].y[2 * k + m] - d.units.y_offset[m]) / d.units.y_scale[m]
                    : std::nan("");
    stream.step(state, y);
    shown = k < 70 ? y : std::vector<double>{state.x[0], state.x[2]};
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
