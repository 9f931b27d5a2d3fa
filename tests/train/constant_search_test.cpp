#include "train/constant_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ConstantSearch, StartsAreSpreadAboutTheGivenValues) {
  std::vector<prior::ExpertParameter> parameters(7);
  const auto set = [&](std::size_t i, Parameter p) { static_cast<Parameter&>(parameters[i]) = p; };
  set(0, {"fixed", 7});
  set(1, {"above", 5, true, 2});
  set(2, {"below", -4, true, -kInfinity, 0});
  set(3, {"between", 1, true, 0, 1000});
  set(4, {"free", -3, true});
  set(5, {"zero", 0, true});
  set(6, {"departure", 0, true});
  parameters[6].prior_std = 1;
  constexpr std::size_t kCount = 81;
  const auto starts = constant_starts(parameters, static_cast<int>(kCount));
  ASSERT_EQ(starts.size(), kCount);
  EXPECT_EQ(starts[0], (std::vector<double>{7, 5, -4, 1, -3, 0, 0}));
  EXPECT_EQ(starts, constant_starts(parameters, static_cast<int>(kCount)));
  const auto count = [&](std::size_t i, double low, double high) {
    return std::ranges::count_if(starts.begin() + 1, starts.end(), [=](const auto& each) {
      return each[i] >= low && each[i] <= high;
    });
  };
  EXPECT_EQ(count(0, 7, 7), 80);
  EXPECT_EQ(count(6, 0, 0), 80);
  EXPECT_EQ(count(1, 2 + 3 / 15.0, 2 + 3 * 15), 80);
  EXPECT_EQ(count(1, 2, 5), 40);
  EXPECT_EQ(count(2, -4 * 15, -4 / 15.0), 80);
  EXPECT_EQ(count(2, -4, 0), 40);
  EXPECT_EQ(count(3, 1, 999), 80);     // no closer to a bound than a thousandth of the range
  EXPECT_GT(count(3, 500, 1000), 10);  // anything
  EXPECT_GT(count(3, 0, 15), 40);      // about the given value
  EXPECT_EQ(count(4, -45, -0.2), 60);
  EXPECT_EQ(count(4, 0.2, 45), 20);
  EXPECT_EQ(count(5, 0.01, 100), 40);
  EXPECT_EQ(count(5, -100, -0.01), 40);
}

TEST(ConstantSearch, CountsWhatIsLearned) {
  prior::Expert expert;
  expert.parameters.resize(3);
  expert.parameters[1].learn = expert.parameters[2].learn = true;
  EXPECT_EQ(learned_constants(expert), 2);
  expert.parameters[2].prior_std = 0.1;
  EXPECT_EQ(learned_constants(expert), 1);
}

// Noise about a wave of a period of 40 steps.
Dataset wave(int steps) {
  RandomStream random(31, "wave");
  std::vector<double> y;
  for (int k = 0; k < steps; ++k) y.push_back(std::sin(0.157 * k + 0.4) + 0.3 * random.normal());
  return dataset_of({y});
}

prior::ExpertSpec wave_spec(double frequency) {
  System system;
  system.states = {"s", "v"};
  system.parameters = {{"w", frequency, true, 0}};
  system.ode = {{"s", "v"}, {"v", "-w^2*s"}};
  system.measure = {{"y", "s"}};
  system.initial = {{"v", 0, 1}};
  return test::equations(system);
}

struct Search {
  Case c;
  ThreadTeam team;
  StaticResult begun;
  std::unique_ptr<model::LearnedModel<double>> model;
  NoiseFactor noise;
  std::vector<ConstantPoint> points;

  explicit Search(double frequency, int threads = 1, int most = 1 << 20)
      : c(wave(2000), wave_spec(frequency)),
        team(threads),
        begun(begin_static(c.description, c.channels, {}, c.scaled, c.everything())),
        model(begun.alone<double>()),
        noise({}, 1, begun.noise_floor) {
    ConstantSearchOptions options;
    int asked = 0;
    options.go_on = [&](double) { return ++asked < most; };
    points = search_constants(*model, noise, c.scaled, c.everything(), team, {0, 0}, options);
  }
  // The constant at a point.
  double frequency(std::size_t i) {
    StaticLikelihood likelihood(*model, noise, c.scaled, c.everything(), team, {0, 0});
    likelihood.begin_constants_at(points[i].theta);
    likelihood.set(points[i].variables);
    return model->theta()[0];
  }
};

TEST(ConstantSearch, FindsAFrequencyFromFarAway) {
  for (const double start : {0.02, 0.157, 1.2}) {
    Search search(start);
    ASSERT_FALSE(search.points.empty()) << start;
    EXPECT_NEAR(search.frequency(0), 0.157, 0.002) << start;
    for (std::size_t i = 1; i < search.points.size(); ++i)
      EXPECT_GT(search.points[i].value, search.points[0].value);
  }
}

// Of starts that lead to the same maximum, what is given comes first.
TEST(ConstantSearch, WhatIsGivenIsKeptWhereItIsAsGood) {
  Search search(0.16);
  EXPECT_TRUE(search.points.at(0).given);
}

TEST(ConstantSearch, IsTheSameOnAnyNumberOfThreads) {
  Search one(0.9), two(0.9, 2);
  ASSERT_EQ(one.points.size(), two.points.size());
  EXPECT_EQ(one.points[0].variables, two.points[0].variables);
}

TEST(ConstantSearch, MayBeStopped) {
  Search search(0.9, 1, 5);
  ASSERT_FALSE(search.points.empty());
  EXPECT_TRUE(std::isfinite(search.points[0].value));
}

}  // namespace
}  // namespace kalmia::train
