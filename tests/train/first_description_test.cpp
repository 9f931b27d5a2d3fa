// Fits to data that say how noisy each value is.
#include "train/first_description.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kalmia/error.hpp"
#include "kalmia/evaluate.hpp"
#include "train/fit_options.hpp"
#include "train/noise_bound.hpp"
#include "train/summary.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A random walk whose sensor is good or bad, at random; the data state `stated` times its
// deviation.
Dataset mixed_sensor(int steps, double stated, std::uint64_t seed) {
  RandomStream random(seed, "mixed sensor");
  Dataset data;
  data.y_names = {"y"};
  data.std_names = {"s"};
  data.x_names = {"true_y"};
  Series& series = data.series.emplace_back();
  series.steps = steps;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    x += random.normal();
    const double std = random.uniform() < 0.5 ? 0.3 : 6;
    series.x.push_back(x);
    series.y.push_back(x + std * random.normal());
    series.y_std.push_back(stated * std);
  }
  return data;
}

Dataset silent(Dataset data) {
  data.std_names.clear();
  data.series[0].y_std.clear();
  return data;
}

FitOptions options_of(const std::string& noise) {
  FitOptions options;
  options.model.prior = "constant-position";
  options.model.noise = noise;
  options.model.hidden = 0;
  options.train.threads = 1;
  return options;
}

TEST(NoiseColumns, TypicalIsTheMedianOfWhatWasMeasured) {
  Dataset data = dataset_of({{1, kMissing, 3, 4}});
  EXPECT_TRUE(typical_stds(data).empty());
  data.std_names = {"s"};
  data.series[0].y_std = {5, -1, 7, 90};
  EXPECT_EQ(typical_stds(data), std::vector<double>{7});
}

model::ModelSpec spec_of(const ModelOptions& options) {
  return parse_options({.model = options, .train = {}}).model;
}

TEST(NoiseColumns, WhatTheOptionsMean) {
  const Dataset data = mixed_sensor(20, 1, 1);
  ModelOptions options;
  const double typical = typical_stds(data)[0];
  model::NoiseSpec noise = noise_of(data, spec_of(options));
  EXPECT_EQ(noise.kind, model::NoiseSpec::Kind::Given);
  EXPECT_EQ(noise.R, std::vector<double>{typical * typical});
  options.noise = "learn";
  noise = noise_of(data, spec_of(options));
  EXPECT_EQ(noise.kind, model::NoiseSpec::Kind::LearnDiagonal);
  EXPECT_EQ(noise.R, std::vector<double>{typical * typical});
  EXPECT_TRUE(noise_of(silent(data), spec_of(options)).R.empty());
  options.noise = "auto";
  EXPECT_EQ(noise_of(silent(data), spec_of(options)).kind, model::NoiseSpec::Kind::LearnDiagonal);

  const auto message = [&] {
    try {
      noise_of(data, spec_of(options));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  options.noise = "0.5";
  EXPECT_EQ(message(),
            "noise = \"0.5\", but the data say how noisy each value is (noise_columns); leave "
            "noise out, or take learn for a common factor");
  options.noise = "auto";
  options.smoother = "fused";
  EXPECT_EQ(message(),
            "smoother = \"fused\", but it does not use the noise of each value (noise_columns); "
            "take linearized");
}

TEST(NoiseColumns, AFitThatKnowsIsBetter) {
  const Dataset data = mixed_sensor(1500, 1, 4), test = mixed_sensor(1500, 1, 5);
  const FitResult knows = fit(data, options_of("auto"));
  const FitResult ignores = fit(silent(data), options_of("auto"));
  EXPECT_LT(knows.summary.static_model.held_out, ignores.summary.static_model.held_out - 0.3);
  EXPECT_GT(knows.summary.static_model.held_out, knows.summary.data.noise_bound);
  const Evaluation with = evaluate(knows.model, test),
                   without = evaluate(ignores.model, silent(test));
  EXPECT_LT(*with.mse_smoothed, 0.5 * *without.mse_smoothed);
  EXPECT_NEAR(with.nis.value(), 1, 0.1);
  // Less the noise of each value, not of all alike, the innovations leave the prediction's error.
  EXPECT_GT(*with.reducible_error, 0);
  // Also a model that was fitted without takes them.
  EXPECT_LT(*evaluate(ignores.model, test).mse_smoothed, 0.5 * *without.mse_smoothed);
}

TEST(NoiseColumns, LearnsHowMuchTheyUnderstate) {
  const Dataset data = mixed_sensor(1500, 0.5, 6);
  const FitResult fitted = fit(data, options_of("learn"));
  const double typical = typical_stds(data)[0];
  EXPECT_NEAR(std::sqrt(fitted.model.noise()[0]) / typical, 2, 0.2);
  EXPECT_LT(fitted.summary.static_model.held_out,
            fit(data, options_of("auto")).summary.static_model.held_out);
}

TEST(NoiseColumns, NetworksAreTrainedWithThem) {
  const Dataset data = mixed_sensor(1500, 1, 7);
  FitOptions options = options_of("auto");
  options.model.hidden = 8;
  options.model.decoder = {8};
  options.train.updates = 40;
  const FitResult fitted = fit(data, options);
  EXPECT_EQ(fitted.summary.networks.updates, 40);
  for (const FitCheck& check : fitted.summary.networks.checks) {
    // Training and held-out losses are of the same kind: near the static model's.
    EXPECT_NEAR(check.loss, fitted.summary.static_model.held_out, 0.3);
    EXPECT_NEAR(check.held_out, fitted.summary.static_model.held_out, 0.1);
  }
}

TEST(NoiseColumns, TheBoundIsThatOfEachValue) {
  Dataset data = dataset_of({{1, kMissing, 3}});
  data.std_names = {"s"};
  data.series[0].y_std = {2, -1, 8};
  const std::vector<HeldOut> all = {{{0, 0, 3}, 0}};
  EXPECT_NEAR(find_noise_bound(noise_of(data, {}), 0, data, all).loss,
              0.5 * (1 + std::log(2 * std::numbers::pi)) + 0.5 * (std::log(2) + std::log(8)),
              1e-14);
}

}  // namespace
}  // namespace kalmia::train
