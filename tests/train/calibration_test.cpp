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

std::vector<HeldOut> all_but_the_start(const Dataset& data) {
  return {{{0, 0, data.series[0].steps}, 100}};
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

TEST(Calibration, FactorsAreThoseOfTheory) {
  const Dataset data = level_data(20000, 2);
  for (const double q : {0.05, 1.0, 8.0}) {
    const std::vector<FitFactor> found =
        find_factors(level_model(q), data, all_but_the_start(data), 1);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].what, "filter");
    EXPECT_EQ(found[1].what, "linearized");
    const double expected[] = {theory_of_filter(q), theory_of_smoother(q)};
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(found[i].determined);
      // Innovations of a wrong model hang together, which the error does not count.
      EXPECT_NEAR(std::log(found[i].factor / expected[i]), 0, (q == 1 ? 4 : 8) * found[i].log_error)
          << found[i].what << ", q = " << q << ", found " << found[i].factor << ", theory "
          << expected[i];
    }
    if (q == 1) {
      EXPECT_DOUBLE_EQ(expected[0], 1);
      EXPECT_NEAR(expected[1], 1, 1e-9);
    } else {
      EXPECT_EQ(expected[0] > 1.5, q < 1);
      EXPECT_EQ(expected[0]<0.7, q> 1);
    }
  }
}

TEST(Calibration, CoverageOfFreshDataIsHonest) {
  const Dataset data = level_data(20000, 3), fresh = level_data(20000, 4);
  for (const double q : {0.1, 6.0}) {
    const std::vector<FitFactor> found =
        find_factors(level_model(q), data, all_but_the_start(data), 1);
    const Evaluation before = evaluate(level_model(q), fresh);
    const Evaluation after =
        evaluate(level_model(q, model::Calibration{found[0].factor, found[1].factor, 1}), fresh);
    EXPECT_TRUE(*before.coverage95 < 0.9 || *before.coverage95 > 0.97) << *before.coverage95;
    EXPECT_GT(*after.coverage95, 0.93) << q;
    EXPECT_LT(*after.coverage95, 0.97) << q;
    EXPECT_NEAR(*after.nis, 1, 0.05) << q;
    EXPECT_NEAR(*after.nees, 1, 0.1) << q;
    EXPECT_EQ(*after.mse_smoothed, *before.mse_smoothed);
    EXPECT_GT(after.log_likelihood, before.log_likelihood);
  }
}

// Two channels with a correlated R, and gaps: the loss at the factor found is least.
TEST(Calibration, TheFactorMakesTheMeasurementsMostLikely) {
  RandomStream random(5, "innovations");
  const std::vector<double> R = {2, 0.5, 0.5, 1};
  Innovations all;
  for (int k = 0; k < 500; ++k) {
    const double a = random.uniform(0.5, 3), b = random.uniform(0.5, 3);
    const double S[4] = {R[0] + a, R[1] + 0.2, R[2] + 0.2, R[3] + b};
    for (int i = 0; i < 4; ++i) all.covariance.push_back(S[i]);
    for (int m = 0; m < 2; ++m)
      all.residual.push_back(random.uniform() < 0.2 ? std::nan("") : 2.2 * random.normal());
  }
  const auto loss = [&](double s) {
    double sum = 0;
    for (std::size_t k = 7; k < 500; ++k) {
      const double* r = all.residual.data() + 2 * k;
      Eigen::Matrix2d S;
      for (Eigen::Index i = 0; i < 4; ++i)
        S(i / 2, i % 2) =
            s * (all.covariance[4 * k + std::size_t(i)] - R[std::size_t(i)]) + R[std::size_t(i)];
      if (std::isnan(r[0]) && std::isnan(r[1])) continue;
      if (std::isnan(r[0]) || std::isnan(r[1])) {
        const int m = std::isnan(r[0]) ? 1 : 0;
        sum += std::log(S(m, m)) + r[m] * r[m] / S(m, m);
      } else {
        const Eigen::Vector2d e(r[0], r[1]);
        sum += std::log(S.determinant()) + e.dot(S.inverse() * e);
      }
    }
    return sum;
  };
  const int first[] = {7};
  const FitFactor found = find_factor(std::span(&all, 1), first, R);
  ASSERT_TRUE(found.determined);
  const double least = loss(found.factor);
  for (const double by : {0.9, 0.999, 1.001, 1.1}) EXPECT_LT(least, loss(by * found.factor)) << by;
  // The error is that of the curvature, nearly: the expected one is used.
  const double h = 1e-3;
  const double curvature =
      0.5 * (loss(found.factor * std::exp(h)) - 2 * least + loss(found.factor * std::exp(-h))) /
      (h * h);
  EXPECT_NEAR(found.log_error * std::sqrt(curvature), 1, 0.2);
}

// The trace by probes is that of the whole matrix, change by change.
TEST(Calibration, TheResponseToAMeasurementIsItsDerivative) {
  test::LearnedCase made = test::network_case(1, 6);
  made.description.time = TimeKind::None;
  const Model model = test::model_of(made.make<float>());
  Dataset data = test::motion_data(1, {24}, 7, 0.1);
  data.series[0].t.clear();
  data.time_kind = TimeKind::None;
  const auto smoothed = [&](const Dataset& shown) {
    const Estimates all = model.smooth(shown, 1);
    std::vector<double> y;
    for (std::size_t k = 0; k < 24; ++k) y.push_back(all.series[0].mean[2 * k]);
    return y;
  };
  constexpr int kFirst = 3, kProbes = 150;
  const double step = 0.05 * std::sqrt(model.noise()[0]);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(24, 24);
  for (int j = 0; j < 24; ++j) {
    double& y = data.series[0].y[static_cast<std::size_t>(j)];
    if (std::isnan(y)) continue;
    const double there = y;
    y = there + step;
    const std::vector<double> up = smoothed(data);
    y = there - step;
    const std::vector<double> down = smoothed(data);
    y = there;
    for (int i = kFirst; i < 24; ++i)
      if (!std::isnan(data.series[0].y[static_cast<std::size_t>(i)]))
        J(i, j) =
            (up[static_cast<std::size_t>(i)] - down[static_cast<std::size_t>(i)]) / (2 * step);
  }
  const Eigen::MatrixXd both = J + J.transpose();
  double variance = 0;
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < i; ++j) variance += both(i, j) * both(i, j);
  const int first[] = {kFirst};
  const double error = std::sqrt(variance / kProbes);
  const Response found = own_response(model, data, first, {}, 1, kProbes, 1);
  EXPECT_NEAR(found.mean, J.trace(), 4 * error);
  EXPECT_GT(J.trace(), 8 * error);
  EXPECT_NEAR(found.error / error, 1, 0.25);
  // In units of the gain.
  EXPECT_NEAR(own_response(model, data, first, {}, 2, 3, 1).mean,
              0.5 * own_response(model, data, first, {}, 1, 3, 1).mean, 1e-12);
}

TEST(Calibration, WhatTheDataDoNotSayIsLeftAsItIs) {
  // Predictions that are far better than the noise, and few of them.
  Innovations few;
  for (int k = 0; k < 30; ++k) {
    few.residual.push_back(k % 2 ? 2 : -2);
    few.covariance.push_back(4.01);
  }
  const int first[] = {0};
  const std::vector<double> R = {4};
  const FitFactor found = find_factor(std::span(&few, 1), first, R);
  EXPECT_FALSE(found.determined);
  EXPECT_EQ(found.factor, 1);
  // Nothing at all.
  const FitFactor none = find_factor({}, {}, R);
  EXPECT_FALSE(none.determined);
  EXPECT_EQ(none.factor, 1);
}

}  // namespace
}  // namespace kalmia::train
