// Models over steps of different lengths, and with control inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "model/even_steps.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::expect_close;
using test::LearnedCase;
using test::motion_data;
using test::public_model;

const std::vector<int> kTimeLengths = {65, 0, 300, 1, 2};

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
                                                        system.e, test::static_noise(d, dt)));
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

void expect_timed(const StateEstimates& found, const std::vector<reference::Gaussian>& expected,
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
    const Dataset data = irregular_data(channels, kTimeLengths, 121);
    const Model model = public_model(test::static_case(channels));
    const Estimates filtered = model.filter(data, 1), smoothed = model.smooth(data, 2);
    double likelihood = 0;
    for (std::size_t s = 0; s < kTimeLengths.size(); ++s) {
      const NaiveRun naive = naive_run(channels, data.series[s]);
      const std::string what = "series " + std::to_string(s);
      expect_timed(filtered.series[s], naive.filtered, 1e-9, what);
      expect_timed(smoothed.series[s], naive.smoothed, 1e-9, what);
      EXPECT_EQ(filtered.series[s].t, data.series[s].t);
      likelihood += naive.log_likelihood;
    }
    EXPECT_NEAR(filtered.log_likelihood, likelihood, 1e-9 * std::abs(likelihood));
    // They matter: with the usual steps it would be another result.
    const Dataset usual = motion_data(channels, kTimeLengths, 121);
    EXPECT_GT(std::abs(model.filter(usual, 1).log_likelihood - likelihood), 1);
  }
}

TEST(Model, AnotherRegularStepIsALengthLikeAnyOther) {
  Dataset data = motion_data(2, {40}, 122);
  for (double& t : data.series[0].t) t = 10 + 3 * (t - 10);
  const Model model = public_model(test::static_case(2));
  expect_timed(model.filter(data, 1).series[0], naive_run(2, data.series[0]).filtered, 1e-9,
               "three times the step");
  // A forecast goes on by the data's step, not by the model's.
  const Estimates ahead = model.forecast(data, 2, 1);
  EXPECT_EQ(ahead.series[0].t, (std::vector<double>{10 + 1.5 * 40, 10 + 1.5 * 41}));
  Series longer = data.series[0];
  longer.t.insert(longer.t.end(), ahead.series[0].t.begin(), ahead.series[0].t.end());
  longer.y.resize(longer.y.size() + 4, std::nan(""));
  std::vector<reference::Gaussian> expected = naive_run(2, longer).filtered;
  expected.erase(expected.begin(), expected.end() - 2);
  expect_timed(ahead.series[0], expected, 1e-9, "forecast");
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

// A static model of one or two channels with a prior that holds in any unit.
LearnedCase motion_case(const std::string& prior, int channels = 1) {
  model::ModelDescription d = test::motion_description(channels);
  d.prior.kind = prior::prior_of_name(prior);
  d.units.x_scale.clear();
  d.units.x_offset.clear();
  for (const prior::StateKind& state : model::expert_of(d).states) {
    const auto c = static_cast<std::size_t>(state.channel);
    d.units.x_scale.push_back(d.units.y_scale[c] * std::pow(d.dt, -state.derivative));
    d.units.x_offset.push_back(state.derivative == 0 ? d.units.y_offset[c] : 0);
  }
  return test::static_case(d);
}

// The same data twice: rows that are not measured are empty in one and left out in the other.
struct Gaps {
  Dataset empty, dropped;
  std::vector<std::size_t> kept;  // rows of `empty` that `dropped` has

  Gaps(int channels, std::uint64_t seed, int longest) {
    empty = motion_data(channels, {120}, seed, 0);
    dropped = empty;
    Series &rows = empty.series[0], &fewer = dropped.series[0];
    fewer.y.clear();
    fewer.t.clear();
    const auto M = static_cast<std::size_t>(channels);
    for (std::size_t k = 0; k < 120; ++k) {
      const bool missing = k % 7 == 3 || (k > 20 && k <= 20 + static_cast<std::size_t>(longest));
      const auto row = rows.y.begin() + static_cast<std::ptrdiff_t>(k * M);
      if (missing) {
        std::fill_n(row, M, std::nan(""));
        continue;
      }
      kept.push_back(k);
      fewer.y.insert(fewer.y.end(), row, row + channels);
      fewer.t.push_back(rows.t[k]);
    }
    fewer.steps = static_cast<int>(kept.size());
  }
  // The rows of `found` that were kept.
  std::vector<double> rows(const std::vector<double>& found, std::size_t width) const {
    std::vector<double> result;
    for (const std::size_t k : kept)
      result.insert(result.end(), found.begin() + static_cast<std::ptrdiff_t>(k * width),
                    found.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
    return result;
  }
};

TEST(Model, ADroppedRowIsAMissingRow) {
  for (const char* prior : {"constant-position", "mean-reverting", "constant-velocity",
                            "damped-velocity", "constant-acceleration", "oscillator"}) {
    SCOPED_TRACE(prior);
    const Model model = public_model(motion_case(prior, 2));
    const auto N = static_cast<std::size_t>(model.state_dim());
    const Gaps gaps(2, 123, 60);
    for (const bool smooth : {false, true}) {
      const Estimates all = smooth ? model.smooth(gaps.empty, 1) : model.filter(gaps.empty, 1);
      const Estimates some = smooth ? model.smooth(gaps.dropped, 1) : model.filter(gaps.dropped, 1);
      EXPECT_NEAR(all.log_likelihood, some.log_likelihood, 1e-9 * std::abs(all.log_likelihood));
      EXPECT_EQ(all.measured_values, some.measured_values);
      const std::vector<double> mean = gaps.rows(all.series[0].mean, N),
                                P = gaps.rows(all.series[0].covariance, N * N);
      ASSERT_EQ(some.series[0].mean.size(), mean.size());
      for (std::size_t k = 0; k < gaps.kept.size(); ++k)
        for (std::size_t i = 0; i < N; ++i) {
          const double* at = P.data() + k * N * N;
          const double sd = std::sqrt(at[i * N + i]);
          ASSERT_NEAR(some.series[0].mean[k * N + i], mean[k * N + i], 1e-9 * sd) << k;
          for (std::size_t j = 0; j < N; ++j)
            ASSERT_NEAR(some.series[0].covariance[(k * N + i) * N + j], at[i * N + j],
                        1e-9 * sd * std::sqrt(at[j * N + j]))
                << k;
        }
    }
  }
}

// Where steps are cut up, the code is the same, and so are the bits.
TEST(Model, ALongStepIsTheEmptyStepsItStandsFor) {
  LearnedCase recurrent = test::network_case(2, 61);
  recurrent.description.head = heads::HeadKind::Direct;
  recurrent = [&] {
    LearnedCase made = recurrent;
    const heads::Architecture architecture = test::architecture_of(made.description);
    made.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
    heads::initialise(architecture, 61, 30, 100, made.parameters.data());
    return made;
  }();
  const std::vector<std::pair<std::string, LearnedCase>> cases = {
      {"ar", motion_case("ar", 2)},
      {"networks", test::network_case(2, 62)},
      {"lstm", test::network_case(2, 63, nn::EncoderKind::Lstm)},
      {"recurrent", recurrent}};
  for (const auto& [name, made] : cases) {
    SCOPED_TRACE(name);
    const Model model = public_model(made);
    const auto N = static_cast<std::size_t>(model.state_dim());
    const Gaps gaps(2, 127, 60);
    const Estimates all = model.filter(gaps.empty, 1), some = model.filter(gaps.dropped, 1);
    EXPECT_EQ(all.log_likelihood, some.log_likelihood);
    EXPECT_TRUE(test::same_bits(some.series[0].mean, gaps.rows(all.series[0].mean, N)));
    EXPECT_TRUE(
        test::same_bits(some.series[0].covariance, gaps.rows(all.series[0].covariance, N * N)));
    EXPECT_EQ(some.series[0].t, gaps.dropped.series[0].t);
    const Estimates smooth_all = model.smooth(gaps.empty, 1),
                    smooth_some = model.smooth(gaps.dropped, 1);
    EXPECT_TRUE(
        test::same_bits(smooth_some.series[0].mean, gaps.rows(smooth_all.series[0].mean, N)));
    // One step at a time, too.
    Stream stream = model.stream();
    Stream::State state = stream.start();
    const Series& series = gaps.dropped.series[0];
    for (std::size_t k = 0; k < gaps.kept.size(); ++k) {
      stream.step(state, {series.y.data() + 2 * k, 2},
                  k == 0 ? std::nan("") : series.t[k] - series.t[k - 1]);
      expect_close(stream.mean(), {some.series[0].mean.data() + k * N, N}, 1e-5, "stream");
    }
    if (name == "recurrent") continue;
    const Estimates paths = model.sample(gaps.dropped, 2, 5, 1);
    ASSERT_EQ(paths.series.size(), 2u);
    EXPECT_EQ(paths.series[0].mean.size(), series.t.size() * N);
  }
}

// Position and velocity, pushed by the second of two inputs, by the user's equations.
LearnedCase pushed_case() {
  model::ModelDescription d = test::unscaled(test::motion_description(1));
  d.dt = 0.5;
  d.input_names = {"wind", "push"};
  d.prior.kind = prior::PriorKind::System;
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
  // A map from step to step: a long step is so many usual ones, and the rest.
  const auto predicted = [&](reference::Gaussian from, double dt, double push) {
    for (int parts = model::parts_of_step(dt / 0.5, model::kMostEmptySteps); parts > 0; --parts) {
      const double part = parts > 1 ? 0.5 : dt;
      from =
          reference::predict(from, naive_F(system, part), reference::Vector{{0, 3 * part * push}},
                             test::whole_covariance(2, 32) * (part / 0.5));
      dt -= part;
    }
    return from;
  };
  std::vector<reference::Gaussian> filtered, ahead;
  for (std::size_t k = 0; k < 70; ++k) {
    const reference::Gaussian before =
        k == 0 ? system.initial
               : predicted(filtered[k - 1], series.t[k] - series.t[k - 1], series.u[2 * k - 1]);
    filtered.push_back(
        reference::update(before, reference::Vector{{series.y[k]}}, system.H, system.R).filtered);
  }
  expect_timed(model.filter(data, 1).series[0], filtered, 1e-9, "filter");
  for (int h = 0; h < 3; ++h)
    ahead.push_back(
        predicted(h == 0 ? filtered.back() : ahead.back(), data.step_size(), series.u.back()));
  expect_timed(model.forecast(data, 3, 1).series[0], ahead, 1e-9, "forecast");
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
