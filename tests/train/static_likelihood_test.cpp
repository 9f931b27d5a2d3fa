#include "train/static_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kalmia/simulate.hpp"
#include "nn/softplus.hpp"
#include "support/gradient_check.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using Kind = model::NoiseSpec::Kind;

// A pendulum pushed by an input, seen at times that differ, with gaps.
Dataset pendulum_data() {
  Dataset data;
  data.time_kind = TimeKind::Number;
  data.y_names = {"angle", "rate"};
  data.u_names = {"push"};
  RandomStream random(161, "pendulum");
  for (int s = 0; s < 3; ++s) {
    Series& series = data.series.emplace_back();
    series.steps = 40 - 9 * s;
    double t = 0, angle = 0.5 * random.normal(), rate = 0, push = 0;
    for (int k = 0; k < series.steps; ++k) {
      series.t.push_back(t);
      for (const double truth : {angle, rate})
        series.y.push_back(random.uniform() < 0.15 ? kMissing : truth + 0.1 * random.normal());
      push = 0.8 * push + random.normal();
      series.u.push_back(push);
      const double length = random.uniform() < 0.5 ? 0.1 : random.uniform(0.05, 0.3);
      for (int i = 0; i < 20; ++i) {
        rate += length / 20 * (-4 * std::sin(angle) - 0.3 * rate + 0.5 * push);
        angle += length / 20 * rate;
      }
      t += length;
    }
  }
  return data;
}

// Every kind of parameter: between bounds, above one, below one, free, and one that is given.
prior::ExpertSpec pendulum_spec(double departure) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::System;
  spec.departure = departure;
  System& s = spec.system;
  s.states = {"angle", "rate"};
  s.inputs = {"push"};
  s.parameters = {{"gravity", 3.5, true, 1, 9},
                  {"half", 0.5},
                  {"friction", 0.2, true, 0},
                  {"wind", -0.1, true, -std::numeric_limits<double>::infinity(), 2},
                  {"gain", 0.4, true}};
  s.ode = {{"angle", "rate"},
           {"rate", "-gravity*sin(angle) - 2*half*friction*rate + gain*push + 0.1*wind"}};
  return spec;
}

// The likelihood of a case, from where a fit would start.
struct Likelihood {
  Case c;
  ThreadTeam team{1};
  StaticResult begun;
  std::unique_ptr<model::LearnedModel<double>> model;
  NoiseFactor noise;
  StaticLikelihood likelihood;
  std::vector<double> variables, gradient;

  Likelihood(const Dataset& data, const prior::ExpertSpec& spec, Kind kind,
             const std::vector<double>& R = {}, double small = 0)
      : c(data, spec),
        begun(begin(c, team, {kind, R})),
        model(begun.alone<double>()),
        noise(kind, data.meas_dim(), begun.noise_floor),
        likelihood(*model, noise, c.scaled, c.everything(), team,
                   std::vector<double>(static_cast<std::size_t>(model->state_dim()), small)),
        variables(likelihood.start()),
        gradient(variables.size()) {}

  double value() { return likelihood(variables, gradient); }

  // One step of a search: none of the networks' weights, and something of everything else.
  static StaticResult begin(const Case& c, ThreadTeam& team, const model::NoiseSpec& spec) {
    StaticOptions options;
    options.max_iterations = 1;
    options.theta = model::expert_of(c.description).theta();  // no search from other starts
    StaticResult result =
        fit_static(c.description, c.channels, spec, c.scaled, c.everything(), team, options);
    result.description.theta.clear();
    return result;
  }
};

TEST(StaticLikelihood, GradientMatchesCentralDifferences) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull})
    for (const double departure : {0.0, 0.3}) {
      SCOPED_TRACE((kind == Kind::LearnFull ? "full noise, departure " : "noise, departure ") +
                   std::to_string(departure));
      Likelihood l(pendulum_data(), pendulum_spec(departure), kind);
      const std::size_t theta = departure > 0 ? 8 : 4, noise = kind == Kind::LearnFull ? 3 : 2;
      ASSERT_EQ(l.variables.size(), 3 + theta + noise);
      EXPECT_EQ(l.likelihood.size(), static_cast<int>(l.variables.size()));
      EXPECT_EQ(l.likelihood.noise_begin(), static_cast<int>(3 + theta));
      // Away from where everything starts, so that the pull is felt.
      RandomStream random(162, "variables");
      for (double& v : l.variables) v += 0.1 * random.normal();
      ASSERT_TRUE(std::isfinite(l.value()));
      const std::vector<double> gradient = l.gradient;
      for (const double g : gradient) EXPECT_NE(g, 0);
      const auto part = [&](const char* name, std::size_t from, std::size_t count) {
        return test::GradientVariable{name, std::span(l.variables).subspan(from, count),
                                      std::span(gradient).subspan(from, count)};
      };
      test::check_gradient(
          [&] { return l.value(); },
          {part("L", 0, 3), part("theta", 3, theta), part("noise", 3 + theta, noise)}, 163);
    }
}

// Lanes without a series have states of zero, where such an emission has no value.
TEST(StaticLikelihood, AnEmissionMayHaveNoValueAtZero) {
  Dataset data;
  data.y_names = {"y"};
  Series& series = data.series.emplace_back();
  series.steps = 60;
  RandomStream random(165, "inverse");
  for (int k = 0; k < series.steps; ++k) series.y.push_back(0.5 + 0.05 * random.normal());
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::System;
  spec.system.states = {"x"};
  spec.system.next = {{"x", "2 + 0.5*(x - 2)"}};
  spec.system.measure = {{"y", "1/x"}};
  spec.system.initial = {{"x", 2, 0.1}};
  Likelihood l(data, spec, Kind::LearnDiagonal);
  ASSERT_TRUE(std::isfinite(l.value()));
  const std::vector<double> gradient = l.gradient;
  test::check_gradient([&] { return l.value(); }, {{"all", l.variables, gradient}}, 166);
}

TEST(StaticLikelihood, GivenNoiseHasNoVariables) {
  Likelihood l(pendulum_data(), pendulum_spec(0), Kind::Given, {0.01, 0.002, 0.002, 0.02});
  ASSERT_EQ(l.variables.size(), 7u);
  ASSERT_TRUE(std::isfinite(l.value()));
  const std::vector<double> gradient = l.gradient;
  test::check_gradient([&] { return l.value(); }, {{"all", l.variables, gradient}}, 164);
  EXPECT_EQ(l.model->emission().R(), (std::vector<double>{0.01, 0.002, 0.002, 0.02}));
}

// By another way through the data: the filter of inference. The pull is the quadratic of each
// parameter's prior.
TEST(StaticLikelihood, IsTheFiltersLikelihoodAndThePull) {
  Likelihood l(pendulum_data(), pendulum_spec(0.3), Kind::LearnDiagonal);
  const auto value = [&] { return l.likelihood.loss(l.value()); };
  double pull = 0, values = 0;
  for (const auto& channel : l.c.channels) values += static_cast<double>(channel.measured);
  const auto filtered = [&] {
    std::vector<HeldOut> all;
    for (const StepRange& each : l.c.everything()) all.push_back({each, 0});
    return held_out_loss(*l.model, l.c.scaled, all, l.team);
  };
  const double start = value();
  EXPECT_NEAR(start, filtered(), 1e-12);
  // Only departures are pulled; theirs is 0.3, their variables count from 0 by 1.
  const double moved[] = {0.1, -0.2, 0.05, 0.15};
  for (std::size_t i = 0; i < 4; ++i) {
    l.variables[7 + i] = moved[i];
    pull += 0.5 * moved[i] * moved[i] / (0.3 * 0.3);
  }
  for (std::size_t i = 3; i < 7; ++i) l.variables[i] += 0.05;
  const double there = value();
  EXPECT_NEAR(there, filtered() + pull / values, 1e-12);
  EXPECT_GT(std::abs(there - start), 1e-3);
}

// Two channels that go about 3 and -1; some values are missing.
Dataset regressive_channels(int channels) {
  RandomStream random(167, "autoregressions");
  Dataset data;
  data.y_names = {"a", "b"};
  data.y_names.resize(static_cast<std::size_t>(channels));
  for (int s = 0; s < 3; ++s) {
    Series& series = data.series.emplace_back();
    series.steps = 90 - 20 * s;
    double x = 0, v = 0;
    for (int k = 0; k < series.steps; ++k) {
      v = 0.6 * v - 0.2 * x + random.normal();
      x = 0.9 * x + v;
      for (int m = 0; m < channels; ++m)
        series.y.push_back(
            random.uniform() < 0.1 ? kMissing : (m == 0 ? 3 + x : -1 + v) + 0.3 * random.normal());
    }
  }
  return data;
}

// Autoregressions are computed on their own: the same as by the filter of inference, with an exact
// gradient.
TEST(StaticLikelihood, OfAutoregressions) {
  const Dataset data = regressive_channels(2);
  for (const char* text : {"ar(4)", "a: ar(3) + season(7, 2); b: trend + ar(2) + memory"}) {
    SCOPED_TRACE(text);
    Likelihood l(data, test::sum_of_parts(text, data.y_names), Kind::LearnDiagonal);
    RandomStream random(168, "variables");
    for (double& v : l.variables) v += 0.05 * random.normal();
    ASSERT_TRUE(std::isfinite(l.value()));
    const std::vector<double> gradient = l.gradient;
    for (const double g : gradient) EXPECT_NE(g, 0);
    const auto part = [&](const char* name, int from, int end) {
      const auto at = static_cast<std::size_t>(from), count = static_cast<std::size_t>(end - from);
      return test::GradientVariable{name, std::span(l.variables).subspan(at, count),
                                    std::span(gradient).subspan(at, count)};
    };
    const int theta = static_cast<int>(l.model->theta().size());
    const int noise = l.likelihood.noise_begin(), all = l.likelihood.size();
    test::check_gradient([&] { return l.value(); },
                         {part("L", 0, noise - theta), part("theta", noise - theta, noise),
                          part("noise", noise, all)},
                         169);
    std::vector<HeldOut> everything;
    for (const StepRange& each : l.c.everything()) everything.push_back({each, 0});
    const double loss = l.likelihood.loss(l.value());
    EXPECT_NEAR(loss, held_out_loss(*l.model, l.c.scaled, everything, l.team), 1e-10);
  }
}

// Full noise of one channel is the same, by the engine.
TEST(StaticLikelihood, OfAnAutoregressionByTheEngine) {
  const Dataset data = regressive_channels(1);
  const prior::ExpertSpec spec = test::sum_of_parts("ar(3) + level", data.y_names);
  Likelihood own(data, spec, Kind::LearnDiagonal), engine(data, spec, Kind::LearnFull);
  ASSERT_EQ(own.variables.size(), engine.variables.size());
  engine.variables = own.variables;
  EXPECT_NEAR(own.value(), engine.value(), 1e-11);
  for (std::size_t i = 0; i < own.gradient.size(); ++i)
    EXPECT_NEAR(own.gradient[i], engine.gradient[i], 1e-9) << i;
}

// Process noise that is suspiciously small is pulled up, and no other.
TEST(StaticLikelihood, SmallProcessNoiseIsPulledUp) {
  const std::vector<double> R = {0.01, 0.002, 0.002, 0.02};
  const double kSmall = 0.01;
  Likelihood free(pendulum_data(), pendulum_spec(0), Kind::Given, R);
  Likelihood pulled(pendulum_data(), pendulum_spec(0), Kind::Given, R, kSmall);
  double values = 0;
  for (const auto& channel : free.c.channels) values += static_cast<double>(channel.measured);
  // L of two states: 0, 1 (off the diagonal), 2.
  for (const double width : {0.02, 0.01, 0.003, 1e-5}) {
    SCOPED_TRACE(width);
    free.variables[2] = pulled.variables[2] = nn::inverse_softplus(width);
    const double t = std::max(0.0, std::log(kSmall / width));
    EXPECT_NEAR(pulled.value() - free.value(), t * t / (1 + t) / values, 1e-12);
    const std::vector<double> gradient = pulled.gradient;
    if (width != kSmall)  // where the second derivative jumps
      test::check_gradient([&] { return pulled.value(); }, {{"all", pulled.variables, gradient}},
                           165);
  }
}

// Where what is measured bends, a segment's loss is that of a filter that has had 32 steps (at most
// half of them) to find the state.
TEST(StaticLikelihood, FirstStepsDoNotCountWhereWhatIsMeasuredBends) {
  Dataset data = pendulum_data();
  prior::ExpertSpec spec = pendulum_spec(0);
  spec.system.measure = {{"angle", "sin(angle)"}, {"rate", "rate"}};
  Likelihood l(data, spec, Kind::LearnDiagonal);
  std::vector<HeldOut> counted;
  for (const StepRange& each : l.c.everything())
    counted.push_back({each, each.begin + std::min(32, each.steps() / 2)});
  const double value = l.value();
  EXPECT_NEAR(l.likelihood.loss(value), held_out_loss(*l.model, l.c.scaled, counted, l.team),
              1e-12);
  const std::vector<double> gradient = l.gradient;
  test::check_gradient([&] { return l.value(); }, {{"all", l.variables, gradient}}, 166);
}

// An L that is four times as large, whatever its form.
TEST(StaticLikelihood, MayStartWithMoreProcessNoise) {
  Likelihood l(pendulum_data(), pendulum_spec(0), Kind::LearnDiagonal);
  l.variables[1] = 0.05;
  l.likelihood.set(l.variables);
  const std::vector<double> more = l.likelihood.start(4);
  EXPECT_NEAR(nn::softplus(more[0]), 4 * nn::softplus(l.variables[0]), 1e-12);
  EXPECT_NEAR(more[1], 0.2, 1e-12);
  EXPECT_NEAR(nn::softplus(more[2]), 4 * nn::softplus(l.variables[2]), 1e-12);
  EXPECT_TRUE(std::equal(more.begin() + 3, more.end(), l.likelihood.start().begin() + 3));
}

// A step of a variable's size makes a width e times as large, to first order, and moves what lies
// off the diagonal by the width of its row.
TEST(StaticLikelihood, SizesOfVariables) {
  Likelihood l(pendulum_data(), pendulum_spec(0.3), Kind::LearnFull);
  for (const double width : {1e-4, 0.5, 300.0}) {
    l.variables[0] = nn::inverse_softplus(width);
    l.variables[2] = nn::inverse_softplus(0.3 * width);
    const std::vector<double> sizes = l.likelihood.sizes(l.variables);
    ASSERT_EQ(sizes.size(), l.variables.size());
    const double h = 1e-6;
    EXPECT_NEAR((nn::softplus(l.variables[0] + h * sizes[0]) - width) / h, width, 1e-4 * width);
    EXPECT_NEAR(sizes[1], 0.3 * width, 1e-9 * width);
    for (std::size_t i = 3; i < 3 + 8; ++i) EXPECT_EQ(sizes[i], 1);
    EXPECT_NEAR(sizes[3 + 8 + 1], std::exp(l.variables[3 + 8 + 2]), 1e-12);
  }
}

TEST(StaticLikelihood, ConstantsMayBeginAnywhere) {
  Likelihood l(pendulum_data(), pendulum_spec(0.3), Kind::LearnDiagonal);
  const std::vector<StaticLikelihood::Constant> constants = l.likelihood.constants();
  ASSERT_EQ(constants.size(), 4u);  // what is given is none, nor is a departure
  EXPECT_EQ(constants[1].parameter, 2u);
  EXPECT_EQ(constants[1].variable, 4u);
  std::vector<double> theta = l.model->theta();
  theta[0] = 8;
  theta[2] = 0.01;
  theta[3] = 1;
  theta[4] = -2;
  l.likelihood.begin_constants_at(theta);
  std::vector<double> x = l.likelihood.start();
  l.likelihood.set(x);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(l.model->theta()[i], theta[i], 1e-14);
  x[6] += 1;  // free: by its size
  l.likelihood.set(x);
  EXPECT_NEAR(l.model->theta()[4], 0, 1e-14);
  for (const StaticLikelihood::Constant& each : constants) {
    std::vector<double> up = x, down = x;
    up[each.variable] += 1e-5;
    down[each.variable] -= 1e-5;
    l.likelihood.set(up);
    const double high = l.model->theta()[each.parameter];
    l.likelihood.set(down);
    EXPECT_NEAR(l.likelihood.slope_of(each, x), (high - l.model->theta()[each.parameter]) / 2e-5,
                1e-8);
  }
  EXPECT_FALSE(l.likelihood.near_bound(constants[0], x));
  x[3] = 40;
  EXPECT_TRUE(l.likelihood.near_bound(constants[0], x));
}

TEST(StaticLikelihood, HeldConstantsAreNoVariables) {
  Likelihood l(pendulum_data(), pendulum_spec(0.3), Kind::LearnDiagonal);
  const StaticLikelihood held(*l.model, l.noise, l.c.scaled, l.c.everything(), l.team, {0, 0}, {},
                              Constants::Held);
  EXPECT_EQ(held.size(), l.likelihood.size() - 4);  // those of the departure stay
}

// A search that steps to where nothing is finite comes back to the numbers it left.
TEST(StaticLikelihood, WhatIsNotFiniteIsForgotten) {
  Likelihood l(pendulum_data(), pendulum_spec(0), Kind::LearnDiagonal);
  const double value = l.value();
  const std::vector<double> gradient = l.gradient, start = l.variables;
  l.variables[4] = 800;  // friction beyond all bounds: the state overflows
  EXPECT_FALSE(std::isfinite(l.value()));
  l.variables = start;
  EXPECT_EQ(l.value(), value);
  EXPECT_EQ(l.gradient, gradient);
}

TEST(StaticLikelihood, VariablesAreTheModels) {
  Likelihood l(pendulum_data(), pendulum_spec(0), Kind::LearnDiagonal);
  const std::vector<double> R = l.model->emission().R();
  const std::vector<double> L(l.model->parameters().begin(), l.model->parameters().end());
  l.likelihood.set(l.variables);
  const double start[] = {3.5, 0.5, 0.2, -0.1, 0.4};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(l.model->theta()[i], start[i], 1e-14);
  EXPECT_TRUE(std::equal(L.begin(), L.end(), l.model->parameters().begin()));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(l.model->emission().R()[i], R[i], 1e-12 * R[0]);
  // gravity is between 1 and 9, friction above 0, wind below 2; what is given stays.
  l.variables[3] = 40;
  l.variables[4] = -3;
  l.variables[5] = 1;
  l.likelihood.set(l.variables);
  EXPECT_NEAR(l.model->theta()[0], 9, 1e-12);
  EXPECT_EQ(l.model->theta()[1], 0.5);
  EXPECT_NEAR(l.model->theta()[2], 0.2 * std::exp(-3), 1e-15);
  EXPECT_NEAR(l.model->theta()[3], 2 - 2.1 * std::exp(1), 1e-14);
}

TEST(StaticLikelihood, WhereItCannotBeComputedThereIsNoNumber) {
  Likelihood l(pendulum_data(), pendulum_spec(0), Kind::LearnDiagonal);
  for (const double far : {1e7, std::nan(""), -std::numeric_limits<double>::infinity()}) {
    std::vector<double> out = l.variables;
    out[1] = far;
    EXPECT_TRUE(std::isnan(l.likelihood(out, l.gradient))) << far;
  }
  // The noise overflows.
  std::vector<double> out = l.variables;
  out.back() = 1000;
  EXPECT_TRUE(std::isnan(l.likelihood(out, l.gradient)));
  // And it goes on from there.
  EXPECT_TRUE(std::isfinite(l.value()));
}

}  // namespace
}  // namespace kalmia::train
