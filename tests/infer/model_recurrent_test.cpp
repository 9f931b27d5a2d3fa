// Recurrent filters: networks that put out the state itself.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "infer/infer_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::expect_close;
using test::motion_data;
using test::public_model;

// A filter without recursion, whose networks do something.
test::LearnedCase recurrent_case(std::uint64_t seed) {
  test::LearnedCase made = test::network_case(2, seed);
  made.description.head = heads::HeadKind::Direct;
  const heads::Architecture architecture = test::architecture_of(made.description);
  made.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise(architecture, seed, 30, 100, made.parameters.data());
  RandomStream random(seed, "recurrent");
  for (double& p : made.parameters) p = static_cast<float>(p + 0.08 * random.normal());
  return made;
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
    const heads::Architecture architecture = test::architecture_of(made.description);
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

}  // namespace
}  // namespace kalmia
