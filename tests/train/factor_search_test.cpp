#include "train/factor_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/random.hpp"

namespace kalmia::train {
namespace {

// Values of `channels` channels at distances from 1 to 40 whose errors have the variance
// s(d) state + rest, times the square of a draw.
PredictedValues values_of(int count, int channels, double state, double rest,
                          const std::function<double(int, double)>& s,
                          const std::function<double(RandomStream&)>& draw, std::uint64_t seed) {
  RandomStream random(seed, "values");
  PredictedValues values;
  for (int i = 0; i < count; ++i) {
    const int channel = i % channels;
    const double distance = std::expm1(random.uniform(std::log(2.0), std::log(41.0)));
    const double error = draw(random) * std::sqrt(s(channel, distance) * state + rest);
    values.values.push_back({channel, i * 40 / count, error * error, state, rest});
    values.distances.push_back(distance);
  }
  return values;
}

double gaussian(RandomStream& random) { return random.normal(); }

// Student's t with 3 degrees of freedom, so scaled that its interval of 95 % is the normal one's.
double heavy(RandomStream& random) {
  double chi = 0;
  for (int i = 0; i < 3; ++i) chi += std::pow(random.normal(), 2);
  return random.normal() / std::sqrt(chi / 3) * 1.959964 / 3.182446;
}

double rising(int, double d) { return 0.5 * std::pow((1 + d) / 2, 0.8); }

TEST(FactorSearch, FindsTheFactorOfEachDistance) {
  for (const auto& draw : {gaussian, heavy}) {
    const PredictedValues values = values_of(20000, 1, 3, 1, rising, draw, 1);
    const FoundFactors found = search_factors(values, 1);
    ASSERT_TRUE(found.factors.shared());
    EXPECT_GE(found.factors.steps.size(), 3u);
    for (std::size_t k = 0; k < found.factors.steps.size(); ++k) {
      const double expected = std::log(rising(0, found.factors.steps[k]));
      EXPECT_TRUE(found.determined[0][k]);
      EXPECT_NEAR(std::log(found.factors.factors[0][k]), expected, 4 * found.log_error[0][k] + 0.02)
          << found.factors.steps[k];
      EXPECT_LT(found.log_error[0][k], 0.35);
    }
  }
}

// The aim is that 95 of 100 are in their bars, whatever the tails.
TEST(FactorSearch, BarsHoldWhatTheySay) {
  for (const auto& draw : {gaussian, heavy}) {
    const PredictedValues values = values_of(20000, 1, 5, 0.5, rising, draw, 2);
    const FoundFactors found = search_factors(values, 1);
    double inside = 0;
    for (std::size_t i = 0; i < values.values.size(); ++i) {
      const PredictedValue& each = values.values[i];
      const double s = std::exp(found.factors.log_factor(0, values.distances[i]));
      inside += each.square <= std::pow(1.959964, 2) * (s * each.state + each.rest) ? 1 : 0;
    }
    EXPECT_NEAR(inside / 20000, 0.95, 0.01);
  }
}

TEST(FactorSearch, ChannelsHaveTheirOwn) {
  const auto s = [](int channel, double d) { return rising(0, d) * (channel == 0 ? 1 : 4); };
  const FoundFactors found = search_factors(values_of(30000, 2, 3, 1, s, gaussian, 3), 2);
  ASSERT_EQ(found.factors.factors.size(), 2u);
  for (const std::size_t m : {0, 1})
    for (std::size_t k = 0; k < found.factors.steps.size(); ++k)
      EXPECT_NEAR(std::log(found.factors.factors[m][k]),
                  std::log(s(static_cast<int>(m), found.factors.steps[k])), 0.35)
          << m << ", " << found.factors.steps[k];
}

// Where all states are alike, a value's factor is the mean over the distances of all channels.
TEST(FactorSearch, OneCurveOfSeveralDistances) {
  RandomStream random(4, "alike");
  PredictedValues values;
  values.distances_of_one = 2;
  for (int i = 0; i < 20000; ++i) {
    const double near = random.uniform(1, 3), far = random.uniform(1, 40);
    const double s = std::sqrt(rising(0, near) * rising(0, far));
    values.values.push_back(
        {i % 2, i * 40 / 20000, std::pow(random.normal(), 2) * (3 * s + 1), 3, 1});
    values.distances.insert(values.distances.end(), {near, far});
  }
  const FoundFactors found = search_factors(values, 2);
  ASSERT_TRUE(found.factors.shared());
  for (const double d : {1.0, 4.0, 15.0, 39.0})
    EXPECT_NEAR(found.factors.log_factor(0, d), std::log(rising(0, d)), 0.25) << d;
}

TEST(FactorSearch, FewValuesChangeLittle) {
  const auto four = [](int, double) { return 4.0; };
  const double many =
      search_factors(values_of(4000, 1, 3, 1, four, gaussian, 5), 1).factors.factors[0][0];
  const FoundFactors few = search_factors(values_of(8, 1, 3, 1, four, gaussian, 5), 1);
  EXPECT_NEAR(std::log(many), std::log(4), 0.3);
  EXPECT_LT(std::abs(std::log(few.factors.factors[0][0])), 0.9);
  EXPECT_FALSE(few.determined[0][0]);
  const FoundFactors none = search_factors({}, 1);
  EXPECT_EQ(none.factors.factors, std::vector<std::vector<double>>{{1}});
  EXPECT_FALSE(none.determined[0][0]);
}

// Of values that are nearly all noise nothing is told, however many there are, for the noise may be
// wrong: here by a tenth.
TEST(FactorSearch, NoiseThatIsWrongIsNoFactor) {
  const auto one = [](int, double) { return 1.0; };
  const auto wrong = [&](double noise_std) {
    PredictedValues values = values_of(20000, 1, 0.1, 1, one, gaussian, 6);
    for (PredictedValue& each : values.values) each.rest = 0.9;
    return search_factors(values, 1, {.noise = noise_std});
  };
  const FoundFactors found = wrong(0.2);
  EXPECT_NEAR(std::log(found.factors.factors[0][0]), 0, 0.3);
  EXPECT_FALSE(found.determined[0][0]);
  EXPECT_GT(std::log(wrong(1e-3).factors.factors[0][0]), 0.4);
}

// Errors of neighbours that are the same tell no more than one of them.
TEST(FactorSearch, WhatHangsTogetherCountsOnce) {
  RandomStream random(7, "blocks");
  PredictedValues values;
  for (int block = 0; block < 40; ++block) {
    const double error = 2 * random.normal();
    for (int i = 0; i < 100; ++i) {
      values.values.push_back({0, block, error * error, 1, 1e-3});
      values.distances.push_back(2);
    }
  }
  const FoundFactors found = search_factors(values, 1);
  EXPECT_GT(found.log_error[0][0], 0.2);
  EXPECT_LT(std::log(found.factors.factors[0][0]), std::log(4) + 0.5);
}

// What a model was not fitted to says by how much more it errs.
TEST(FactorSearch, UnseenValuesMoveWhatFittedOnesSay) {
  const auto fitted = [](int, double) { return 2.0; };
  const auto unseen = [](int, double) { return 6.0; };
  const PredictedValues many = values_of(8000, 1, 3, 0.1, fitted, gaussian, 8);
  const FoundFactors alone = search_factors(many, 1);
  const FoundFactors moved =
      search_factors(many, values_of(8000, 1, 3, 0.1, unseen, gaussian, 9), 1);
  EXPECT_EQ(moved.factors.steps, alone.factors.steps);
  for (std::size_t k = 0; k < alone.factors.steps.size(); ++k) {
    EXPECT_NEAR(std::log(alone.factors.factors[0][k]), std::log(2), 0.25);
    EXPECT_NEAR(std::log(moved.factors.factors[0][k]), std::log(6), 0.45);
  }
  const FoundFactors few = search_factors(many, values_of(10, 1, 3, 0.1, unseen, gaussian, 9), 1);
  EXPECT_NEAR(std::log(few.factors.factors[0][0]), std::log(2), 0.4);
}

}  // namespace
}  // namespace kalmia::train
