#include "train/calibration.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/evaluate.hpp"
#include "nn/softplus.hpp"
#include "support/ensembles.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

constexpr double kQ = 1, kR = 4;

// A local level with its truth.
Dataset level_data(int steps, std::uint64_t seed) {
  RandomStream random(seed, "level with truth");
  Dataset data = dataset_of({{}});
  data.x_names = {"true_y"};
  Series& series = data.series[0];
  series.steps = steps;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    x += std::sqrt(kQ) * random.normal();
    series.x.push_back(x);
    series.y.push_back(x + std::sqrt(kR) * random.normal());
  }
  return data;
}

// The static model of a local level that takes q for the variance of its steps. Units are the
// user's.
Model level_model(double q, std::optional<model::Calibration> calibration = {}) {
  Case made(dataset_of({local_level(600, kQ, kR, 1)}), "constant-position");
  StaticResult result;
  result.description = made.description;
  result.description.units = {{1}, {0}, {1}, {0}};
  result.output = {0, 0, nn::inverse_softplus(std::sqrt(q))};
  result.initial_e = {0};
  result.initial_L = {nn::inverse_softplus(10.0)};
  result.R = {kR};
  auto learned = result.alone<float>();
  return test::model_of(std::move(learned), calibration);
}

CalibrationData all_but_the_start(const Dataset& data) {
  Dataset shown = data;
  shown.x_names.clear();
  shown.series[0].x.clear();
  return {{shown, {100}}, {}};
}

constexpr double kKnownNoise = 0.01;

// By method and distance.
double factor_at(const model::DistanceFactors& factors, double distance) {
  return std::exp(factors.log_factor(0, distance));
}

double steady_prediction(double q) { return 0.5 * (q + std::sqrt(q * q + 4 * q * kR)); }

// The variance of the filter's prediction error in the long run, over what a filter with q says.
double theory_of_filter(double q) {
  const double p = steady_prediction(q), K = p / (p + kR);
  // e_pred <- (1 - K) e_pred - K v + w.
  return (K * K * kR + kQ) / (1 - (1 - K) * (1 - K)) / p;
}

// The same of what a smoother says of a state from all measurements but its own, amid many: dense
// algebra, without any recursion.
double theory_of_smoother(double q) {
  constexpr int kSteps = 161, kAt = 80;
  const auto covariance = [&](double step_variance) {
    Eigen::MatrixXd C(kSteps, kSteps);
    for (int i = 0; i < kSteps; ++i)
      for (int j = 0; j < kSteps; ++j) C(i, j) = 100 + step_variance * std::min(i, j);
    return C;
  };
  std::vector<int> others;
  for (int k = 0; k < kSteps; ++k)
    if (k != kAt) others.push_back(k);
  const auto weights_and_variance = [&](double step_variance, Eigen::VectorXd& weights) {
    const Eigen::MatrixXd C = covariance(step_variance);
    const Eigen::MatrixXd Y =
        Eigen::MatrixXd(C(others, others)) + kR * Eigen::MatrixXd::Identity(kSteps - 1, kSteps - 1);
    const Eigen::VectorXd c = C(others, kAt);
    weights = Y.ldlt().solve(c);
    return C(kAt, kAt) - c.dot(weights);
  };
  Eigen::VectorXd weights;
  const double said = weights_and_variance(q, weights);
  const Eigen::MatrixXd C = covariance(kQ);
  const Eigen::MatrixXd Y =
      Eigen::MatrixXd(C(others, others)) + kR * Eigen::MatrixXd::Identity(kSteps - 1, kSteps - 1);
  const Eigen::VectorXd c = C(others, kAt);
  return (C(kAt, kAt) - 2 * c.dot(weights) + weights.dot(Y * weights)) / said;
}

// Errors of a filter with another q than the data's grow with the distance as theory says.
double theory_of_forecast(double q, double distance) {
  const double p = steady_prediction(q), said = p + (distance - 1) * q;
  return (theory_of_filter(q) * p + (distance - 1) * kQ) / said;
}

TEST(Calibration, FactorsAreThoseOfTheory) {
  const Dataset data = level_data(20000, 2);
  for (const double q : {0.05, 1.0, 8.0}) {
    const FoundCalibration found =
        find_factors(level_model(q), all_but_the_start(data), {{4, 16}}, kKnownNoise, 1);
    ASSERT_TRUE(found.calibration);
    EXPECT_TRUE(found.notes.empty());
    for (const double distance : {1.0, 4.0, 16.0})
      EXPECT_NEAR(std::log(factor_at(found.calibration->filter, distance) /
                           theory_of_forecast(q, distance)),
                  0, q == 1 ? 0.15 : 0.35)
          << q << ", " << distance;
    EXPECT_NEAR(std::log(factor_at(found.calibration->linearized, 0.5) / theory_of_smoother(q)), 0,
                q == 1 ? 0.15 : 0.4)
        << q;
    for (const FitFactor& each : found.factors) {
      EXPECT_TRUE(each.what == "filter" || each.what == "linearized") << each.what;
      EXPECT_TRUE(each.determined) << each.what << " " << each.steps;
      EXPECT_EQ(each.channel, "y");
    }
  }
}

TEST(Calibration, CoverageOfFreshDataIsHonest) {
  const Dataset data = level_data(20000, 3), fresh = level_data(20000, 4);
  for (const double q : {0.1, 6.0}) {
    const FoundCalibration found =
        find_factors(level_model(q), all_but_the_start(data), {{4, 16}}, kKnownNoise, 1);
    const Evaluation before = evaluate(level_model(q), fresh);
    const Evaluation after = evaluate(level_model(q, found.calibration), fresh);
    EXPECT_TRUE(*before.coverage95 < 0.9 || *before.coverage95 > 0.97) << *before.coverage95;
    EXPECT_GT(*after.coverage95, 0.93) << q;
    EXPECT_LT(*after.coverage95, 0.97) << q;
    EXPECT_NEAR(*after.nis, 1, 0.05) << q;
    EXPECT_NEAR(*after.nees, 1, 0.1) << q;
    EXPECT_EQ(*after.mse_smoothed, *before.mse_smoothed);
    EXPECT_GT(after.log_likelihood, before.log_likelihood);
  }
}

// In gaps and forecasts, too, which a model with too small or large a q gets wrong by other factors
// than it gets the next value.
TEST(Calibration, CoverageIsHonestAtAnyDistance) {
  const Dataset data = level_data(20000, 5), fresh = level_data(20000, 6);
  for (const double q : {0.1, 6.0}) {
    const FoundCalibration found =
        find_factors(level_model(q), all_but_the_start(data), {{4, 16}}, kKnownNoise, 1);
    const Model scaled = level_model(q, found.calibration), plain = level_model(q);
    Dataset gaps = fresh;
    for (std::size_t k = 100; k < gaps.series[0].y.size(); ++k)
      if (k % 40 < 14) gaps.series[0].y[k] = kMissing;
    const auto coverage = [&](const Model& model, bool smooth, std::size_t begin, std::size_t end) {
      const Estimates states = smooth ? model.smooth(gaps, 1) : model.filter(gaps, 1);
      double inside = 0, count = 0;
      for (std::size_t k = 120; k < gaps.series[0].y.size(); ++k) {
        if (k % 40 < begin || k % 40 >= end) continue;
        const double e = states.series[0].mean[k] - fresh.series[0].x[k];
        inside += e * e <= 3.8415 * states.series[0].covariance[k] ? 1 : 0;
        ++count;
      }
      return inside / count;
    };
    for (const bool smooth : {false, true}) {
      const double before = coverage(plain, smooth, 5, 9);
      EXPECT_TRUE(before < 0.88 || before > 0.98) << before;
      for (const auto& [begin, end] : {std::pair(0, 2), {5, 9}, {12, 14}, {14, 40}}) {
        const double found_coverage = coverage(scaled, smooth, static_cast<std::size_t>(begin),
                                               static_cast<std::size_t>(end));
        EXPECT_GT(found_coverage, 0.915) << q << smooth << begin;
        EXPECT_LT(found_coverage, 0.98) << q << smooth << begin;
      }
    }
  }
}

TEST(Calibration, FitsAreCalibratedUnlessAskedNotTo) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "constant-position";
  options.model.hidden = 0;
  const Dataset data = dataset_of({local_level(3000, 1, 4, 9)});
  const FitResult scaled = fit(data, options);
  ASSERT_TRUE(scaled.model.impl().calibration);
  // The model is right, and factors are near 1.
  for (const FitFactor& each : scaled.summary.calibration)
    EXPECT_NEAR(std::log(each.factor), 0, 0.4) << each.what << " " << each.steps;
  options.model.calibrate = false;
  const FitResult plain = fit(data, options);
  EXPECT_FALSE(plain.model.impl().calibration);
  EXPECT_TRUE(plain.summary.calibration.empty());
  EXPECT_EQ(plain.model.smooth(data, 1).series[0].mean,
            scaled.model.smooth(data, 1).series[0].mean);
}

// A model that learned so many numbers that what is held out from it is looked at apart.
FitOptions many_numbers() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "level + season(12, 5)";
  options.model.hidden = 0;
  options.train.threads = 1;
  return options;
}

// An input that is written only when it changes has no value in most stretches.
TEST(Calibration, InputsGoOnFromBeforeAStretch) {
  Dataset data = level_data(900, 71);
  data.u_names = {"setpoint"};
  data.series[0].u.assign(900, kMissing);
  data.series[0].u[0] = 1;
  data.series[0].u[400] = 2;
  const FitSummary summary = fit(data, many_numbers()).summary;
  EXPECT_FALSE(summary.calibration.empty());
  for (const std::string& note : summary.notes)
    EXPECT_EQ(note.find("not calibrated"), std::string::npos) << note;
}

// What is held out is too unlike the rest to be shown to the model: that is said, and the fit goes
// on.
TEST(Calibration, AStretchThatCannotBeShownIsSaid) {
  Dataset data = level_data(900, 72);
  data.time_kind = TimeKind::Number;
  double t = 0;
  for (int k = 0; k < 900; ++k) data.series[0].t.push_back(t += k < 750 ? 1 : 30);
  const FitSummary summary = fit(data, many_numbers()).summary;
  EXPECT_TRUE(summary.calibration.empty());
  bool said = false;
  for (const std::string& note : summary.notes)
    said = said || note.find("covariances are not calibrated") != std::string::npos;
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace kalmia::train
