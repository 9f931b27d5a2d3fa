#include "train/static_stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kalmia/simulate.hpp"
#include "model/state_size.hpp"
#include "nn/softplus.hpp"
#include "support/expert_spec.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using Kind = model::NoiseSpec::Kind;

StaticResult fit_all(const Case& c, const model::NoiseSpec& noise = {},
                     const StaticOptions& options = {}, int threads = 1) {
  ThreadTeam team(threads);
  return fit_static(c.description, c.channels, noise, c.scaled, c.everything(), team, options);
}

double log_likelihood(const LinearModel& model, const Dataset& data) {
  double sum = 0;
  for (const Series& series : data.series)
    if (series.steps > 0)
      sum += kalman_filter(model, {series.y.data(), 1, series.steps, data.meas_dim()})
                 .log_likelihood[0];
  return sum;
}

double values_of(const Dataset& data) {
  double values = 0;
  for (const auto& channel : model::channel_statistics(data))
    values += static_cast<double>(channel.measured);
  return values;
}

// x = (position, velocity) with independent disturbances of variances (q0, q1).
std::vector<double> moving(int steps, double dt, double q0, double q1, double r,
                           std::uint64_t seed) {
  RandomStream random(seed, "moving");
  std::vector<double> y;
  double p = 3, v = 0;
  for (int k = 0; k < steps; ++k) {
    p += dt * v + std::sqrt(q0) * random.normal();
    v += std::sqrt(q1) * random.normal();
    y.push_back(p + std::sqrt(r) * random.normal());
  }
  return y;
}

// The classical likelihood of the data is the one reported, and is not higher nearby.
void expect_maximum(const Case& c, const StaticResult& fitted, bool noise_is_free = true) {
  const LinearModel best = classical_model(fitted);
  const double values = values_of(c.data), highest = log_likelihood(best, c.data) / values;
  EXPECT_NEAR(fitted.training_loss, -highest, 1e-9 * (1 + std::abs(highest)));
  const auto expect_lower = [&](LinearModel changed, const std::string& what) {
    EXPECT_LT(log_likelihood(changed, c.data) / values, highest + 1e-7) << what;
  };
  const auto N = static_cast<std::size_t>(best.state_dim),
             M = static_cast<std::size_t>(best.meas_dim);
  for (const double factor : {0.99, 1.01, 0.5, 2.0}) {
    LinearModel changed = best;
    for (double& q : changed.Q) q *= factor;
    expect_lower(changed, "Q");
    for (std::size_t n = 0; n < N; ++n) {
      changed = best;
      // Congruence keeps it a covariance.
      for (std::size_t j = 0; j < N; ++j) {
        changed.Q[n * N + j] *= std::sqrt(factor);
        changed.Q[j * N + n] *= std::sqrt(factor);
      }
      expect_lower(changed, "Q of state " + std::to_string(n));
    }
    if (!noise_is_free) continue;
    for (std::size_t m = 0; m < M; ++m) {
      changed = best;
      for (std::size_t j = 0; j < M; ++j) {
        changed.R[m * M + j] *= std::sqrt(factor);
        changed.R[j * M + m] *= std::sqrt(factor);
      }
      expect_lower(changed, "R of channel " + std::to_string(m));
    }
  }
}

TEST(StaticStage, LocalLevel) {
  std::vector<std::vector<double>> series;
  for (std::uint64_t s = 0; s < 8; ++s) series.push_back(local_level(500, 0.5, 1, 20 + s));
  const Case c(dataset_of(series), "constant-position");
  const StaticResult fitted = fit_all(c);
  const LinearModel model = classical_model(fitted);
  EXPECT_NEAR(model.R[0], 1, 0.15);
  EXPECT_NEAR(model.Q[0], 0.5, 0.12);
  EXPECT_EQ(fitted.free_parameters, 2);
  EXPECT_FALSE(fitted.interrupted);
  expect_maximum(c, fitted);
}

TEST(StaticStage, ConstantVelocityWithTime) {
  constexpr double kDt = 0.1;
  std::vector<std::vector<double>> series;
  for (std::uint64_t s = 0; s < 8; ++s) series.push_back(moving(500, kDt, 0.04, 4, 1, 40 + s));
  Dataset data = dataset_of(series);
  data.time_kind = TimeKind::Number;
  for (Series& each : data.series)
    for (int k = 0; k < each.steps; ++k) each.t.push_back(kDt * k);
  const Case c(data, "constant-velocity");
  const StaticResult fitted = fit_all(c);
  const LinearModel model = classical_model(fitted);
  EXPECT_NEAR(model.R[0], 1, 0.15);
  EXPECT_NEAR(model.Q[3], 4, 1.6);
  EXPECT_EQ(fitted.free_parameters, 4);
  expect_maximum(c, fitted);
}

// More series than a group has lanes, of many lengths, values missing.
TEST(StaticStage, SegmentsOfDifferentLengths) {
  std::vector<std::vector<double>> series;
  RandomStream random(3, "missing");
  for (std::uint64_t s = 0; s < 45; ++s) {
    series.push_back(local_level(static_cast<int>(7 * s % 101), 0.3, 1, 60 + s));
    for (double& y : series.back())
      if (random.uniform() < 0.2) y = kMissing;
  }
  const Case c(dataset_of(series), "constant-position");
  const StaticResult one = fit_all(c), two = fit_all(c, {}, {}, 2);
  expect_maximum(c, one);
  EXPECT_EQ(one.output, two.output);
  EXPECT_EQ(one.R, two.R);
}

TEST(StaticStage, LongSeriesAreCutAndThinnedOut) {
  const std::vector<double> y = local_level(140000, 0.5, 1, 5);
  const Case c(dataset_of({y}), "constant-position");
  const StaticResult fitted = fit_all(c);
  const LinearModel model = classical_model(fitted);
  EXPECT_NEAR(model.R[0], 1, 0.04);
  EXPECT_NEAR(model.Q[0], 0.5, 0.03);
}

// The flow of the Nile at Aswan, 1871-1970, and the variances of its local-level model (Durbin &
// Koopman 2012, Sec. 2.10).
TEST(StaticStage, NileFlow) {
  const Case c(
      dataset_of(
          {{1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
            960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
            874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
            1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
            781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
            1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
            1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740}}),
      "constant-position");
  const LinearModel model = classical_model(fit_all(c));
  EXPECT_NEAR(model.R[0] / 15099, 1, 0.03);
  EXPECT_NEAR(model.Q[0] / 1469, 1, 0.03);
}

// Two channels whose noises are correlated.
Dataset correlated() {
  Dataset data;
  data.y_names = {"a", "b"};
  RandomStream random(8, "correlated");
  for (int s = 0; s < 6; ++s) {
    Series& series = data.series.emplace_back();
    series.steps = 400;
    const std::vector<double> a = local_level(400, 0.3, 1e-9, 100 + static_cast<std::uint64_t>(s)),
                              b = local_level(400, 0.3, 1e-9, 200 + static_cast<std::uint64_t>(s));
    for (std::size_t k = 0; k < 400; ++k) {
      const double shared = random.normal();
      series.y.push_back(a[k] + shared);
      series.y.push_back(100 * (b[k] + 0.6 * shared + 0.8 * random.normal()));
    }
  }
  return data;
}

TEST(StaticStage, FullNoise) {
  const Case c(correlated(), "constant-position");
  const StaticResult fitted = fit_all(c, {Kind::LearnFull, {}});
  const LinearModel model = classical_model(fitted);
  EXPECT_NEAR(model.R[0], 1, 0.2);
  EXPECT_NEAR(model.R[1], 60, 15);
  EXPECT_NEAR(model.R[3], 1e4, 2000);
  expect_maximum(c, fitted);
  const LinearModel diagonal = classical_model(fit_all(c, {Kind::LearnDiagonal, {}}));
  EXPECT_EQ(diagonal.R[1], 0);
  EXPECT_LT(log_likelihood(diagonal, c.data), log_likelihood(model, c.data) - 50);
}

TEST(StaticStage, GivenNoiseStaysAsGiven) {
  const Case c(correlated(), "constant-position");
  const std::vector<double> R = {0.9, 40, 40, 9000};
  const StaticResult fitted = fit_all(c, {Kind::Given, R});
  const LinearModel model = classical_model(fitted);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(model.R[i], R[i], 1e-9 * R[3]);
  EXPECT_EQ(fitted.free_parameters, 3);
  expect_maximum(c, fitted, false);
}

// Lorenz is no constant velocity: the likelihood alone would have R = 0.
TEST(StaticStage, NoiseKeepsItsShareWhereTheMapIsPoor) {
  SimulateOptions options;
  options.steps = 1500;
  const Case c(simulate("lorenz", options), "constant-velocity");
  const LinearModel model = classical_model(fit_all(c));
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_GT(model.R[m * 4], 0.1);
    EXPECT_LT(model.R[m * 4], 0.35);
  }
}

// Values that swing from step to step are no constant position: the likelihood alone would take all
// of them for noise.
TEST(StaticStage, NoiseIsNotAllThatTheMapCannotPredict) {
  RandomStream random(6, "swings");
  std::vector<double> y;
  double x = 0;
  for (int k = 0; k < 2000; ++k) {
    x = -0.95 * x + std::sqrt(1 - 0.95 * 0.95) * random.normal();
    y.push_back(x + 0.3 * random.normal());
  }
  const Case c(dataset_of({y}), "constant-position");
  const LinearModel model = classical_model(fit_all(c));
  EXPECT_NEAR(model.R[0], 0.09 + 0.025, 0.03);
  EXPECT_GT(model.Q[0], 0.2);
}

TEST(StaticStage, LikelihoodInOtherUnitsIsTheSameModel) {
  const std::vector<double> y = local_level(400, 0.5, 1, 5);
  std::vector<double> scaled;
  for (const double value : y) scaled.push_back(1e-7 * value + 3);
  const StaticResult a = fit_all(Case(dataset_of({y}), "constant-velocity"));
  const StaticResult b = fit_all(Case(dataset_of({scaled}), "constant-velocity"));
  EXPECT_NEAR(a.training_loss, b.training_loss - std::log(1e-7), 1e-6);
  EXPECT_NEAR(classical_model(b).R[0] / classical_model(a).R[0], 1e-14, 1e-17);
}

TEST(StaticStage, Interruption) {
  const Case c(dataset_of({local_level(400, 0.5, 1, 5)}), "constant-velocity");
  StaticOptions options;
  std::vector<double> losses;
  options.go_on = [&](int, int, double loss) {
    losses.push_back(loss);
    return losses.size() < 3;
  };
  const StaticResult fitted = fit_all(c, {}, options);
  EXPECT_TRUE(fitted.interrupted);
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(fitted.training_loss, losses.back());
  EXPECT_NEAR(-log_likelihood(classical_model(fitted), c.data) / 400, losses.back(), 1e-9);
}

double theta_of(const StaticResult& fitted, const std::string& name) {
  const prior::Expert expert = model::expert_of(fitted.description);
  for (std::size_t i = 0; i < expert.parameters.size(); ++i)
    if (expert.parameters[i].name == name) return fitted.description.theta.at(i);
  ADD_FAILURE() << name;
  return 0;
}

// The angle alone is measured; gravity starts a fifth too low.
TEST(StaticStage, ParametersOfAPendulumAreRecovered) {
  SimulateOptions options;
  options.steps = 2000;
  options.series = 4;
  prior::ExpertSpec spec = test::named("system");
  spec.system.states = {"y1", "rate"};
  spec.system.parameters = {{"gravity", 0.8 * 9.81, true, 0}, {"friction", 0.5, true, 0, 5}};
  spec.system.ode = {{"y1", "rate"}, {"rate", "-gravity*sin(y1) - friction*rate"}};
  const Case c(simulate("pendulum", options), spec);
  const StaticResult fitted = fit_all(c);
  EXPECT_NEAR(theta_of(fitted, "gravity"), 9.81, 0.03 * 9.81);
  EXPECT_NEAR(theta_of(fitted, "friction"), 0.1, 0.08);
  EXPECT_EQ(fitted.free_parameters, 3 + 2 + 1);
  // As given, they predict worse.
  for (Parameter& each : spec.system.parameters) each.learn = false;
  const StaticResult held = fit_all(Case(c.data, spec));
  EXPECT_EQ(held.description.theta, (std::vector<double>{0.8 * 9.81, 0.5}));
  EXPECT_LT(fitted.training_loss, held.training_loss - 0.01);
}

TEST(StaticStage, ParametersOfLorenzAreRecovered) {
  SimulateOptions options;
  options.steps = 1000;
  prior::ExpertSpec spec = test::named("system");
  spec.system.states = {"y1", "y2", "y3"};
  spec.system.parameters = {
      {"sigma", 12, true}, {"rho", 22.4, true, 1, 100}, {"beta", 0.8 * 8 / 3, true, 0}};
  spec.system.ode = {
      {"y1", "sigma*(y2 - y1)"}, {"y2", "y1*(rho - y3) - y2"}, {"y3", "y1*y2 - beta*y3"}};
  const Case c(simulate("lorenz", options), spec);
  const StaticResult fitted = fit_all(c);
  EXPECT_NEAR(theta_of(fitted, "sigma"), 10, 0.2);
  EXPECT_NEAR(theta_of(fitted, "rho"), 28, 0.2);
  EXPECT_NEAR(theta_of(fitted, "beta"), 8.0 / 3, 0.05);
}

// A wave of a period of 40 steps in noise, by equations; values of `spoilt` are outliers.
Case wave_case(double frequency, double spoilt = 0) {
  RandomStream random(31, "wave");
  std::vector<double> y;
  for (int k = 0; k < 2000; ++k) {
    y.push_back(std::sin(0.157 * k + 0.4) + 0.3 * random.normal());
    if (random.uniform() < spoilt) y.back() += 10 * random.normal();
  }
  System system;
  system.states = {"s", "v"};
  system.parameters = {{"w", frequency, true, 0}};
  system.ode = {{"s", "v"}, {"v", "-w^2*s"}};
  system.measure = {{"y", "s"}};
  system.initial = {{"v", 0, 1}};
  return {dataset_of({y}), test::equations(system)};
}

// The likelihood has many maxima. A search from the given value alone ends in another one.
TEST(StaticStage, ConstantsAreFoundFromFarAway) {
  const StaticResult near = fit_all(wave_case(0.157));
  EXPECT_NEAR(theta_of(near, "w"), 0.157, 0.001);
  for (const double start : {0.02, 1.2}) {
    const Case c = wave_case(start);
    const StaticResult fitted = fit_all(c);
    EXPECT_NEAR(fitted.training_loss, near.training_loss, 1e-4) << start;
    StaticOptions alone;
    alone.theta = {start};
    if (start > 1) {
      EXPECT_GT(fit_all(c, {}, alone).training_loss, near.training_loss + 0.01);
    }
    const StaticResult two = fit_all(c, {}, {}, 2);
    EXPECT_EQ(fitted.output, two.output);
    EXPECT_EQ(fitted.description.theta, two.description.theta);
  }
}

TEST(StaticStage, ConstantsAreFoundUnderHeavyTails) {
  Case c = wave_case(1.2, 0.03);
  c.description.tails = 4;
  const StaticResult fitted = fit_all(c);
  EXPECT_NEAR(theta_of(fitted, "w"), 0.157, 0.002);
  ASSERT_EQ(fitted.constants.size(), 1u);
  EXPECT_LT(fitted.constants[0].standard_error, 0.002);
}

// The sign of a constant, and its size where 0 is given.
TEST(StaticStage, ConstantsMayBeginAtZeroOrWithTheWrongSign) {
  RandomStream random(32, "returns");
  std::vector<double> y;
  double x = 0;
  for (int k = 0; k < 1500; ++k) {
    x += 0.3 * (5 - x) + 0.3 * random.normal();
    y.push_back(x + 0.1 * random.normal());
  }
  for (const double pace : {0.0, 0.6, -0.05})
    for (const double level : {0.0, -40.0}) {
      System system;
      system.states = {"y"};
      system.parameters = {{"pace", pace, true}, {"level", level, true}};
      system.next = {{"y", "y - pace*(y - level)"}};
      const StaticResult fitted = fit_all(Case(dataset_of({y}), test::equations(system)));
      EXPECT_NEAR(theta_of(fitted, "pace"), 0.3, 0.07) << pace << " " << level;
      EXPECT_NEAR(theta_of(fitted, "level"), 5, 0.15) << pace << " " << level;
    }
}

// A map that a given value makes overflow at once may be learned from other starts.
TEST(StaticStage, AStartWithoutALikelihoodIsNotTheEnd) {
  System system;
  system.states = {"y"};
  system.parameters = {{"growth", 20, true, 0, 40}};
  system.next = {{"y", "growth*y*(1 - y)"}};
  RandomStream random(33, "growth");
  std::vector<double> y;
  double x = 0.4;
  for (int k = 0; k < 800; ++k) {
    x = std::clamp(2.5 * x * (1 - x) + 0.03 * random.normal(), 0.05, 0.95);
    y.push_back(x + 0.02 * random.normal());
  }
  const StaticResult fitted = fit_all(Case(dataset_of({y}), test::equations(system)));
  EXPECT_NEAR(theta_of(fitted, "growth"), 2.5, 0.05);
}

TEST(StaticStage, ASearchForConstantsMayBeInterrupted) {
  for (const std::size_t most : {3u, 150u}) {
    StaticOptions options;
    std::vector<double> losses;
    options.go_on = [&](int, int, double loss) {
      losses.push_back(loss);
      return losses.size() < most;
    };
    const StaticResult fitted = fit_all(wave_case(1.2), {}, options);
    EXPECT_TRUE(fitted.interrupted);
    EXPECT_EQ(losses.size(), most);
    EXPECT_TRUE(std::isfinite(fitted.training_loss));
    EXPECT_TRUE(fitted.constants.empty());
  }
}

// States in units of any size are the same search.
TEST(StaticStage, UnitsOfAUsersStatesDoNotMatter) {
  const Case c = wave_case(0.2);
  Case large = wave_case(0.2);
  prior::ExpertSpec spec = large.description.prior;
  spec.system.measure = {{"y", "s/1e5"}};
  spec.system.initial = {{"s", 0, 3e5}, {"v", 0, 1e5}};
  const StaticResult a = fit_all(c), b = fit_all(Case(c.data, spec));
  EXPECT_NEAR(a.training_loss, b.training_loss, 1e-3);
  EXPECT_NEAR(theta_of(a, "w"), theta_of(b, "w"), 1e-4);
}

// x' = -x / 2 + force, at times that differ.
TEST(StaticStage, AnInputsGainIsLearnedAtAnyTimes) {
  Dataset data = dataset_of({{}});
  data.time_kind = TimeKind::Number;
  data.u_names = {"force"};
  Series& series = data.series[0];
  RandomStream random(17, "driven");
  double x = 0, t = 0, force = 0;
  for (int k = 0; k < 1500; ++k) {
    series.t.push_back(t);
    series.y.push_back(x + 0.1 * random.normal());
    force = 0.9 * force + random.normal();
    series.u.push_back(force);
    const double dt = random.uniform(0.1, 1), decay = std::exp(-0.5 * dt);
    x = decay * x + 2 * (1 - decay) * 0.7 * force + 0.05 * std::sqrt(dt) * random.normal();
    t += dt;
  }
  series.steps = 1500;
  prior::ExpertSpec spec = test::named("system");
  spec.system.states = {"y"};
  spec.system.inputs = {"force"};
  spec.system.parameters = {{"rate", 0.4, true, 0}, {"gain", 1, true}};
  spec.system.ode = {{"y", "gain*force - rate*y"}};
  const StaticResult fitted = fit_all(Case(data, spec));
  EXPECT_NEAR(theta_of(fitted, "rate"), 0.5, 0.01);
  EXPECT_NEAR(theta_of(fitted, "gain"), 0.7, 0.01);
}

// What is pulled towards nothing stays near it with little data, and leaves it with much.
TEST(StaticStage, DeparturesArePulledTowardsNone) {
  const auto departure = [](int steps, double std) {
    std::vector<double> y;
    RandomStream random(18, "decaying");
    double x = 5;
    for (int k = 0; k < steps; ++k) {
      y.push_back(x + 0.05 * random.normal());
      x = 0.8 * x + random.normal();
    }
    prior::ExpertSpec spec = test::named("none");
    spec.departure = std;
    return theta_of(fit_all(Case(dataset_of({y}), spec), {Kind::Given, {0.0025}}),
                    "departure of y by y");
  };
  EXPECT_NEAR(departure(3000, 1), 0.8, 0.03);
  EXPECT_LT(std::abs(departure(3000, 1e-4)), 0.01);
}

// x' = 0.9 x - 0.1 x^3 + 0.3 N(0, 1), measured with noise 0.05.
std::vector<double> cubic(int steps) {
  RandomStream random(19, "cubic");
  std::vector<double> y;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    y.push_back(x + 0.05 * random.normal());
    x = 0.9 * x - 0.1 * x * x * x + 0.3 * random.normal();
  }
  return y;
}

// The cubic system, of which the expert knows nothing but that it stays about where it is.
StaticResult fit_cubic(int steps, int degree) {
  System system;
  system.states = {"y"};
  system.next = {{"y", "0.999*y"}};
  prior::ExpertSpec spec = test::equations(system, 1);
  const Dataset data = dataset_of({cubic(steps)});
  const Case plain(data, spec);
  spec.degree = degree;
  spec.frame = model::state_frame(model::expert_of(plain.description), plain.description,
                                  plain.channels, {1});
  return fit_all(Case(data, spec), {Kind::Given, {0.0025}});
}

TEST(StaticStage, APolynomialDepartureFindsTheMap) {
  const StaticResult fitted = fit_cubic(20000, 3);
  const auto model = fitted.alone<double>();
  const kalman::TransitionMap& map = *model->expert().map;
  Buffer<double> x(lanes::kLaneQuantum), F(lanes::kLaneQuantum), e(lanes::kLaneQuantum),
      dt(lanes::kLaneQuantum), scratch(map.scratch_size());
  for (const double at : {-1.0, -0.4, 0.0, 0.5, 1.1}) {
    std::ranges::fill(x.span(), at);
    std::ranges::fill(dt.span(), 1.0);
    map.forward({x.data(), dt.data(), nullptr, model->theta().data()}, F.data(), e.data(),
                scratch.data());
    EXPECT_NEAR(F.data()[0] * at + e.data()[0], 0.9 * at - 0.1 * at * at * at, 0.02) << at;
    EXPECT_NEAR(F.data()[0], 0.9 - 0.3 * at * at, 0.06) << at;
  }
}

// Coefficients learned from few steps leave the map uncertain, which the likelihood of these steps
// does not know.
TEST(StaticStage, WhatIsNotKnownOfThePolynomialIsProcessNoise) {
  const auto process_std = [](const StaticResult& fitted) {
    return nn::softplus(fitted.output.back());
  };
  const StaticResult few = fit_cubic(40, 8), many = fit_cubic(20000, 3);
  const double step = few.description.prior.frame.step[0];
  EXPECT_GT(process_std(few), 0.35 * step * std::sqrt(9.0 / 40));
  EXPECT_NEAR(process_std(many), 0.3, 0.01);
}

TEST(StaticStage, NetworksOfAnySizeStartFromIt) {
  const std::vector<double> y = local_level(600, 0.5, 1, 5);
  const Case c(dataset_of({y}), "constant-velocity");
  const StaticResult fitted = fit_all(c);
  ThreadTeam team(1);
  const std::vector<HeldOut> all = {{{0, 0, 600}, 0}};
  const double alone = held_out_loss(*fitted.alone<double>(), c.scaled, all, team);
  EXPECT_NEAR(held_out_loss(*fitted.with_networks<double>(24, {16, 8}, 3), c.scaled, all, team),
              alone, 1e-12);
  EXPECT_NEAR(held_out_loss(*fitted.with_networks<float>(24, {16}, 3), c.scaled, all, team), alone,
              1e-5);
}

}  // namespace
}  // namespace kalmia::train
