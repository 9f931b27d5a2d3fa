// What kalmia::fit does under Student-t noise.
#include <gtest/gtest.h>

#include <cmath>

#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

FitOptions tails_options(const std::string& tails, int hidden) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "constant-position";
  options.model.tails = tails;
  options.model.hidden = hidden;
  options.model.decoder = {16};
  options.train.updates = 200;
  options.train.threads = 2;
  return options;
}

// A smooth track in two channels with noise of unit deviation, a share of outliers of deviation
// `far`, and truth.
Dataset track(int steps, double outliers, double far = 30) {
  RandomStream random(9, "track");
  Dataset data;
  data.y_names = {"a", "b"};
  data.x_names = {"true_a", "true_b"};
  Series& series = data.series.emplace_back();
  series.steps = steps;
  for (int k = 0; k < steps; ++k)
    for (int c = 0; c < 2; ++c) {
      const double x = 40 * std::sin(0.02 * (1 + c) * k) + 10 * std::sin(0.07 * k);
      double noise = random.normal();
      if (random.uniform() < outliers) noise += far * random.normal();
      series.x.push_back(x);
      series.y.push_back(x + noise);
    }
  return data;
}

// The likelihood is one: noise of the right kind is the likeliest.
TEST(FitTails, GaussianDataPreferGaussianNoise) {
  const Dataset data = dataset_of({local_level(3000, 0.3, 1, 4)});
  const double gaussian = fit(data, tails_options("gaussian", 0)).summary.static_model.held_out;
  for (const char* tails : {"2", "3", "10"})
    EXPECT_GT(fit(data, tails_options(tails, 0)).summary.static_model.held_out, gaussian) << tails;
}

TEST(FitTails, DataWithOutliersPreferHeavyTails) {
  const Dataset data = track(2500, 0.03);
  EXPECT_LT(fit(data, tails_options("3", 0)).summary.static_model.held_out,
            fit(data, tails_options("gaussian", 0)).summary.static_model.held_out - 0.3);
}

// Outliers are most of the noise's variance, but R is that of the rest.
TEST(FitTails, TheNoiseIsLearnedWithoutItsOutliers) {
  FitOptions options = tails_options("3", 0);
  options.model.prior = "constant-velocity";
  const Dataset data = track(2500, 0.03);
  const FitResult fitted = fit(data, options);
  // Model::noise is the variance: 3 times R.
  EXPECT_NEAR(std::sqrt(fitted.model.noise()[0] / 3), 1, 0.25);
  EXPECT_NEAR(std::sqrt(fitted.model.noise()[3] / 3), 1, 0.25);
  const Evaluation e = evaluate(fitted.model, data);
  EXPECT_LT(*e.mse_smoothed, 0.15);
  EXPECT_GT(*e.coverage95, 0.90);
  EXPECT_LT(*e.coverage95, 0.985);
}

// Neither does it matter how far away they are, nor that the series begins with one: later values
// are not taken for outliers of the track that the first two make.
TEST(FitTails, OutliersMayBeAnywhere) {
  FitOptions options = tails_options("3", 0);
  options.model.prior = "constant-velocity";
  for (const double far : {300.0, 3e6}) {
    Dataset data = track(2500, 0.05, far);
    data.series[0].y[2] += far;
    const Evaluation e = evaluate(fit(data, options).model, data);
    EXPECT_LT(*e.mse_filtered, 0.6) << far;
    EXPECT_LT(*e.mse_smoothed, 0.15) << far;
    EXPECT_GT(*e.coverage95, 0.93) << far;
    EXPECT_LT(*e.coverage95, 0.99) << far;
  }
}

// Noise that lasts is predicted too well: the guard acts under heavy tails, too.
TEST(FitTails, NoiseThatLastsIsNotForNetworks) {
  std::vector<double> y;
  RandomStream random(3, "lasting");
  double x = 0, noise = 0;
  for (int k = 0; k < 2000; ++k) {
    x += 0.5 * random.normal();
    noise = 0.97 * noise + 0.5 * random.normal();
    y.push_back(x + noise);
  }
  FitOptions options = tails_options("3", 16);
  options.model.noise = "10";
  const FitSummary summary = fit(dataset_of({y}), options).summary;
  EXPECT_TRUE(std::isfinite(summary.data.noise_bound));
  EXPECT_EQ(summary.networks.stop_reason, StopReason::NoisePredicted);
  EXPECT_FALSE(summary.networks.kept);
}

// Whatever networks learn: they are not kept where they make things worse.
TEST(FitTails, NetworksAreNotWorseThanNone) {
  const Dataset data = track(2500, 0.03);
  for (const char* prior : {"constant-position", "constant-velocity"}) {
    FitOptions with = tails_options("3", 16), without = tails_options("3", 0);
    with.model.prior = without.model.prior = prior;
    const Evaluation best = evaluate(fit(data, with).model, data);
    const Evaluation plain = evaluate(fit(data, without).model, data);
    EXPECT_LE(*best.mse_smoothed, 1.05 * *plain.mse_smoothed) << prior;
    EXPECT_LE(*best.mse_filtered, 1.05 * *plain.mse_filtered) << prior;
    EXPECT_GT(*best.coverage95, 0.88) << prior;
  }
}

}  // namespace
}  // namespace kalmia::train
