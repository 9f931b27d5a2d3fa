// Models over steps of different lengths, and with control inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::expect_close;
using test::LearnedCase;
using test::motion_data;
using test::public_model;

const std::vector<int> kLengths = {65, 0, 300, 1, 2};

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

// Whatever is asked of the model.
TEST(Model, AnotherUnitOfTimeIsRefused) {
  const Model model = public_model(test::static_case(2));
  Dataset milliseconds = motion_data(2, {40, 30}, 124), untimed = milliseconds;
  for (Series& series : milliseconds.series)
    for (double& t : series.t) t *= 1000;
  untimed.time_kind = TimeKind::None;
  for (Series& series : untimed.series) series.t.clear();
  LearnedCase counting = test::static_case(2);
  counting.description.time = TimeKind::None;
  const Model counts = public_model(counting);
  EXPECT_NO_THROW(counts.filter(untimed, 1));
  for (const auto& [of, data] : {std::pair{model, milliseconds}, std::pair{model, untimed},
                                 std::pair{counts, motion_data(2, {40}, 124)}}) {
    EXPECT_THROW(of.filter(data, 1), DataError);
    EXPECT_THROW(of.smooth(data, 1), DataError);
    EXPECT_THROW(of.forecast(data, 2, 1), DataError);
    EXPECT_THROW(of.sample(data, 1, 1, 1), DataError);
    EXPECT_THROW(of.innovations(data, 1), DataError);
  }
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

}  // namespace
}  // namespace kalmia
