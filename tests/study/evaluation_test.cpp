#include "study/evaluation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kalmia/classical.hpp"
#include "kalmia/simulate.hpp"
#include "simulate/random_linear.hpp"
#include "study/whiteness.hpp"

namespace kalmia::study {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What a model gives, by the classical filters.
struct ModelRun {
  Estimates filtered, smoothed;
  std::vector<Innovations> innovations;
};

ModelRun run(const LinearModel& model, const Dataset& data) {
  const auto N = static_cast<std::size_t>(model.state_dim);
  const auto M = static_cast<std::size_t>(model.meas_dim);
  const Eigen::Map<const RowMajor> H(model.H.data(), model.meas_dim, model.state_dim);
  const Eigen::Map<const RowMajor> R(model.R.data(), model.meas_dim, model.meas_dim);
  ModelRun out;
  for (const Series& series : data.series) {
    const FilterResult result =
        rts_smoother(model, {series.y.data(), 1, series.steps, model.meas_dim});
    const auto estimates = [&](const Moments& moments) {
      StateEstimates one;
      one.steps = series.steps;
      one.mean.assign(moments.mean.begin(), moments.mean.end());
      one.covariance.assign(moments.covariance.begin(), moments.covariance.end());
      return one;
    };
    out.filtered.series.push_back(estimates(result.filtered));
    out.smoothed.series.push_back(estimates(result.smoothed));
    out.filtered.log_likelihood += result.log_likelihood[0];
    Innovations innovations;
    innovations.residual.assign(result.innovations.begin(), result.innovations.end());
    innovations.covariance.resize(static_cast<std::size_t>(series.steps) * M * M);
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
      const Eigen::Map<const RowMajor> P(result.predicted.covariance.data() + k * N * N,
                                         model.state_dim, model.state_dim);
      Eigen::Map<RowMajor>(innovations.covariance.data() + k * M * M, model.meas_dim,
                           model.meas_dim) = H * P * H.transpose() + R;
    }
    out.innovations.push_back(innovations);
  }
  return out;
}

Evaluation scored_run(const Dataset& data, const Dataset& shown, const ModelRun& done,
                      const std::vector<double>& H, const std::vector<double>& R) {
  const Measure measure = linear_measure(H, data.y_names.size());
  return score(data, shown, truth_in_order(data, measure), done.filtered, done.smoothed,
               done.innovations, measure, R);
}

Evaluation score_run(const LinearModel& model, const Dataset& data, const Dataset& shown) {
  const ModelRun done = run(model, shown);
  return scored_run(data, shown, done, model.H, model.R);
}

// Four series of a random system with three states of which two are measured, a tenth missing.
Dataset simulated_run() {
  SimulateOptions options;
  options.steps = 3000;
  options.series = 4;
  options.states = 3;
  options.measured = 2;
  options.seed = 11;
  Dataset data = simulate("random-linear", options);
  SpoilOptions spoiling;
  spoiling.missing = 0.1;
  spoiling.missing_run = 3;
  spoil(data, spoiling, 12);
  return data;
}

LinearModel true_model() { return simulation::random_linear_model(3, 2, 0.5, 11); }

// One channel, two states, four steps; y = 2 x1. Everything by hand.
struct Small {
  Dataset data, shown;
  ModelRun done;
  std::vector<double> H{2, 0}, R{0.5};

  Small() {
    data.y_names = {"y"};
    data.x_names = {"true_a", "true_b"};
    Series series;
    series.steps = 4;
    series.y = {10, kNoValue, 14, 16};
    series.x = {5, 1, 6.5, 1, 7, kNoValue, 8.5, 1};
    data.series.push_back(series);
    shown = data;
    shown.series[0].y[2] = kNoValue;  // hidden
    StateEstimates filtered, smoothed;
    filtered.steps = smoothed.steps = 4;
    filtered.mean = {5.5, 0, 6, 0, 6, 0, 8, 0};
    smoothed.mean = {5, 1, 6, 1, 7.5, 1, 8.5, 3};
    for (int k = 0; k < 4; ++k)
      for (const double p : {0.25, 0.0, 0.0, 4.0}) smoothed.covariance.push_back(p);
    filtered.covariance = smoothed.covariance;
    done.filtered.series = {filtered};
    done.smoothed.series = {smoothed};
    done.filtered.log_likelihood = -7;
    done.innovations.resize(1);
    done.innovations[0].residual = {1, kNoValue, kNoValue, -3};
    done.innovations[0].covariance = {2, 2, 2, 3};
  }
  Evaluation result() const { return scored_run(data, shown, done, H, R); }
};

TEST(Score, ComputesEveryFigureAsByHand) {
  const Evaluation e = Small().result();
  EXPECT_EQ(e.steps, 4u);
  EXPECT_EQ(e.measured_values, 2u);
  // Channel truth 10, 13, 14, 17; shown 10, -, -, 16; filtered 11, 12, 12, 16; smoothed 10, 12, 15,
  // 17; the line 10, 12, 14, 16.
  EXPECT_DOUBLE_EQ(*e.mse_raw, 0.5);
  EXPECT_DOUBLE_EQ(*e.mse_filtered, 1);
  EXPECT_DOUBLE_EQ(*e.mse_smoothed, 0);
  EXPECT_DOUBLE_EQ(*e.gap_mse_interpolated, 0.5);
  EXPECT_DOUBLE_EQ(*e.gap_mse_filtered, 2.5);
  EXPECT_DOUBLE_EQ(*e.gap_mse_smoothed, 1);
  EXPECT_DOUBLE_EQ(*e.hidden_mse_interpolated, 0);
  EXPECT_DOUBLE_EQ(*e.hidden_mse_filtered, 4);
  EXPECT_DOUBLE_EQ(*e.hidden_mse_smoothed, 1);
  // Seven state values; filtered errors .5 .5 1 .5 and 1 1 1, smoothed 0 .5 .5 0 and 0 0 2.
  EXPECT_DOUBLE_EQ(*e.state_mse_filtered, (0.25 + 0.25 + 1 + 0.25 + 3) / 7);
  EXPECT_DOUBLE_EQ(*e.state_mse_smoothed, (0.25 + 0.25 + 4) / 7);
  EXPECT_DOUBLE_EQ(*e.nees, (0.25 / 0.25 + 0.25 / 0.25 + 4 / 4.0) / 7);
  EXPECT_DOUBLE_EQ(*e.coverage95, 1);
  EXPECT_DOUBLE_EQ(*e.nis, (1 / 2.0 + 9 / 3.0) / 2);
  EXPECT_DOUBLE_EQ(*e.reducible_error, 5 - 0.5);
  EXPECT_DOUBLE_EQ(e.log_likelihood, -7);
  EXPECT_DOUBLE_EQ(e.log_likelihood_per_value, -3.5);
  EXPECT_FALSE(e.whiteness_p);
}

// The only channel has what all channels have.
TEST(Score, OneChannelHasTheFiguresOfAll) {
  const Evaluation e = Small().result();
  ASSERT_EQ(e.channels.size(), 1u);
  const ChannelScore& y = e.channels[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_DOUBLE_EQ(y.scale, 3);  // of 10 and 16
  EXPECT_EQ(y.mse_raw, e.mse_raw);
  EXPECT_EQ(y.mse_filtered, e.mse_filtered);
  EXPECT_EQ(y.mse_smoothed, e.mse_smoothed);
  EXPECT_EQ(y.gap_mse_interpolated, e.gap_mse_interpolated);
  EXPECT_EQ(y.gap_mse_filtered, e.gap_mse_filtered);
  EXPECT_EQ(y.gap_mse_smoothed, e.gap_mse_smoothed);
  EXPECT_EQ(y.hidden_mse_interpolated, e.hidden_mse_interpolated);
  EXPECT_EQ(y.hidden_mse_filtered, e.hidden_mse_filtered);
  EXPECT_EQ(y.hidden_mse_smoothed, e.hidden_mse_smoothed);
  EXPECT_EQ(y.reducible_error, e.reducible_error);
}

// Each channel is scored as if it were alone, in its own unit.
TEST(Score, ChannelsAreScoredApart) {
  const Dataset data = simulated_run();
  const ModelRun done = run(true_model(), data);
  const Evaluation e = scored_run(data, data, done, true_model().H, true_model().R);
  ASSERT_EQ(e.channels.size(), 2u);
  double squares[2] = {0, 0}, counts[2] = {0, 0};
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t i = 0; i < data.series[s].y.size(); ++i) {
      const double error = data.series[s].y[i] - data.series[s].x[i / 2 * 3 + i % 2];
      if (std::isnan(error)) continue;
      squares[i % 2] += error * error;
      ++counts[i % 2];
    }
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(e.channels[m].name, data.y_names[m]);
    EXPECT_NEAR(*e.channels[m].mse_raw, squares[m] / counts[m], 1e-12);
  }
  EXPECT_NEAR(*e.mse_raw, (squares[0] + squares[1]) / (counts[0] + counts[1]), 1e-12);
}

TEST(Score, TruthOfTheChannelsScoresTheChannels) {
  Small small;
  small.data.x_names = {"true_y"};
  small.data.series[0].x = {10, 13, kNoValue, 17};
  const Evaluation e = small.result();
  EXPECT_DOUBLE_EQ(*e.mse_raw, 0.5);
  EXPECT_DOUBLE_EQ(*e.gap_mse_filtered, 1);
  EXPECT_FALSE(e.state_mse_filtered);
  EXPECT_FALSE(e.state_mse_smoothed);
  // H P H' = 4 * 0.25 = 1; smoothed errors 0, -1, -, 0.
  EXPECT_DOUBLE_EQ(*e.nees, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*e.coverage95, 1);
  small.done.smoothed.series[0].mean[0] = 6;  // an error of two deviations
  EXPECT_DOUBLE_EQ(*small.result().coverage95, 2.0 / 3);
}

TEST(Score, WithoutTruthTheMeasurementsAreCovered) {
  Small small;
  small.data.x_names.clear();
  small.data.series[0].x.clear();
  const Evaluation e = small.result();
  for (const auto& figure :
       {e.mse_raw, e.mse_filtered, e.mse_smoothed, e.gap_mse_interpolated, e.gap_mse_filtered,
        e.gap_mse_smoothed, e.state_mse_filtered, e.state_mse_smoothed, e.nees})
    EXPECT_FALSE(figure);
  EXPECT_DOUBLE_EQ(*e.hidden_mse_filtered, 4);
  EXPECT_DOUBLE_EQ(*e.coverage95, 1);
  small.done.innovations[0].residual[3] = -4;  // 2.3 deviations
  EXPECT_DOUBLE_EQ(*small.result().coverage95, 0.5);
}

TEST(Score, NothingMissingNoGaps) {
  Small small;
  small.data.series[0].y = {10, 12, 14, 16};
  small.shown = small.data;
  const Evaluation e = small.result();
  for (const auto& figure :
       {e.gap_mse_interpolated, e.gap_mse_filtered, e.gap_mse_smoothed, e.hidden_mse_interpolated,
        e.hidden_mse_filtered, e.hidden_mse_smoothed})
    EXPECT_FALSE(figure);
  EXPECT_EQ(e.measured_values, 4u);
}

TEST(Score, NothingMeasuredNoFigureOfIt) {
  Small small;
  small.data.series[0].y.assign(4, kNoValue);
  small.shown = small.data;
  small.done.innovations[0].residual.assign(4, kNoValue);
  small.done.filtered.log_likelihood = 0;
  const Evaluation e = small.result();
  EXPECT_EQ(e.measured_values, 0u);
  EXPECT_EQ(e.log_likelihood_per_value, 0);
  EXPECT_FALSE(e.nis);
  EXPECT_FALSE(e.reducible_error);
  EXPECT_FALSE(e.gap_mse_interpolated);
  EXPECT_TRUE(e.gap_mse_filtered);
}

TEST(Score, ACovarianceThatIsNoneGivesNoNees) {
  Small small;
  small.done.smoothed.series[0].covariance[4] = -1;
  const Evaluation e = small.result();
  EXPECT_FALSE(e.nees);
  EXPECT_TRUE(e.nis);
}

// The Kalman filter and smoother of the system itself: all diagnostics say so, with measured
// values, gaps and several series.
TEST(Score, ARightModelPassesEveryCheck) {
  const Dataset data = simulated_run();
  const LinearModel model = true_model();
  const Evaluation e = score_run(model, data, data);
  EXPECT_EQ(e.steps, 12000u);
  EXPECT_NEAR(static_cast<double>(e.measured_values), 0.9 * 24000, 8);
  EXPECT_NEAR(*e.nis, 1, 0.03);
  EXPECT_NEAR(*e.nees, 1, 0.03);
  EXPECT_NEAR(*e.coverage95, 0.95, 0.006);
  EXPECT_GT(*e.whiteness_p, 0.01);
  EXPECT_NEAR(*e.mse_raw, 0.25, 0.01);
  EXPECT_LT(*e.mse_smoothed, *e.mse_filtered);
  EXPECT_LT(*e.mse_filtered, *e.mse_raw);
  EXPECT_LT(*e.gap_mse_smoothed, *e.gap_mse_interpolated);
  EXPECT_LT(*e.gap_mse_smoothed, *e.gap_mse_filtered);
  EXPECT_LT(*e.state_mse_smoothed, *e.state_mse_filtered);
  // Entropy of the innovations: the mean log-likelihood of a right model with NIS 1.
  EXPECT_NEAR(e.log_likelihood_per_value * static_cast<double>(e.measured_values), e.log_likelihood,
              1e-6);
}

// What the truth says of the prediction's own error, the innovations say without it.
TEST(Score, TheReducibleErrorIsThatOfThePrediction) {
  const Dataset data = simulated_run();
  LinearModel model = true_model();
  for (double& f : model.F) f *= 0.8;  // a wrong model has more of it
  const ModelRun done = run(model, data);
  double sum = 0, count = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t k = 0; k < 3000; ++k)
      for (std::size_t m = 0; m < 2; ++m) {
        const double r = done.innovations[s].residual[k * 2 + m];
        if (std::isnan(r)) continue;
        // y_hat - H x = y - r - H x
        sum += std::pow(data.series[s].y[k * 2 + m] - r - data.series[s].x[k * 3 + m], 2);
        count += 1;
      }
  const Evaluation e = score_run(model, data, data);
  EXPECT_NEAR(*e.reducible_error, sum / count, 0.02);
  EXPECT_GT(*e.reducible_error, *score_run(true_model(), data, data).reducible_error);
}

// The smallest p-value of the two channels, times two; never above 1.
TEST(Score, WhitenessIsThatOfTheWorstChannel) {
  const Dataset data = simulated_run();
  for (const double slower : {1.0, 0.97}) {
    LinearModel model = true_model();
    for (double& f : model.F) f *= slower;
    const ModelRun done = run(model, data);
    double smallest = 1;
    for (std::size_t m = 0; m < 2; ++m) {
      std::vector<std::vector<double>> normalised;
      for (const Innovations& one : done.innovations)
        normalised.push_back(normalised_innovations(one.residual, one.covariance, 2, m));
      smallest = std::min(
          smallest, ljung_box({normalised[0], normalised[1], normalised[2], normalised[3]})->p);
    }
    EXPECT_DOUBLE_EQ(*score_run(model, data, data).whiteness_p, std::min(1.0, 2 * smallest));
  }
}

TEST(Score, AWrongModelIsCaught) {
  const Dataset data = simulated_run();
  LinearModel sure = true_model(), timid = true_model(), slow = true_model();
  for (double& q : sure.Q) q *= 0.1;
  for (double& q : timid.Q) q *= 10;
  for (double& r : timid.R) r *= 4;
  for (double& f : slow.F) f *= 0.6;
  const Evaluation too_sure = score_run(sure, data, data);
  EXPECT_GT(*too_sure.nis, 1.2);
  EXPECT_GT(*too_sure.nees, 1.3);
  EXPECT_LT(*too_sure.coverage95, 0.92);
  EXPECT_LT(*too_sure.whiteness_p, 1e-6);
  const Evaluation too_timid = score_run(timid, data, data);
  EXPECT_LT(*too_timid.nis, 0.8);
  EXPECT_GT(*too_timid.coverage95, 0.97);
  EXPECT_LT(*score_run(slow, data, data).whiteness_p, 1e-6);
}

// Where H = I the truth of the channels is that of the states.
TEST(Score, MeasuringEverythingScoresStatesAndChannels) {
  SimulateOptions options;
  options.steps = 500;
  options.states = options.measured = 2;
  const Dataset data = simulate("random-linear", options);
  const LinearModel model = simulation::random_linear_model(2, 2, 0.5, options.seed);
  const Evaluation e = score_run(model, data, data);
  ASSERT_TRUE(e.state_mse_filtered && e.mse_filtered);
  // But for the order of the sums.
  EXPECT_NEAR(*e.state_mse_filtered, *e.mse_filtered, 1e-14);
  EXPECT_NEAR(*e.state_mse_smoothed, *e.mse_smoothed, 1e-14);
  // With another H the columns are the channels'.
  std::vector<double> H = model.H;
  H[0] = 2;
  const ModelRun done = run(model, data);
  const Evaluation other = scored_run(data, data, done, H, model.R);
  EXPECT_FALSE(other.state_mse_filtered);
  EXPECT_TRUE(other.nees);
}

// The hidden measurements are the truth plus noise: the error against them is that in the gaps plus
// R.
TEST(ShownData, HiddenMeasurementsAreTheTruthPlusNoise) {
  const Dataset data = simulated_run();
  EvaluateOptions options;
  options.hide = 0.2;
  options.hide_run = 2;
  const Dataset shown = shown_data(data, options);
  std::size_t before = 0, after = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t i = 0; i < data.series[s].y.size(); ++i) {
      before += std::isnan(data.series[s].y[i]) ? 0 : 1;
      after += std::isnan(shown.series[s].y[i]) ? 0 : 1;
      if (!std::isnan(shown.series[s].y[i])) {
        ASSERT_EQ(shown.series[s].y[i], data.series[s].y[i]);
      }
    }
  EXPECT_NEAR(static_cast<double>(after), 0.8 * static_cast<double>(before), 8);
  // Mean length of the hidden runs, in terms of the values that were measured.
  double hidden = 0, runs = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t m = 0; m < 2; ++m) {
      bool inside = false;
      for (std::size_t i = m; i < data.series[s].y.size(); i += 2) {
        if (std::isnan(data.series[s].y[i])) continue;
        const bool gone = std::isnan(shown.series[s].y[i]);
        hidden += gone ? 1 : 0;
        runs += gone && !inside ? 1 : 0;
        inside = gone;
      }
    }
  EXPECT_NEAR(hidden / runs, 2, 0.02);
  const Evaluation e = score_run(true_model(), data, shown);
  EXPECT_EQ(e.measured_values, after);
  EXPECT_NEAR(*e.hidden_mse_smoothed, *e.gap_mse_smoothed + 0.25, 0.04);
  EXPECT_LT(*e.hidden_mse_smoothed, *e.hidden_mse_filtered);
  EXPECT_LT(*e.hidden_mse_smoothed, *e.hidden_mse_interpolated);
  options.seed = 2;
  const Dataset other = shown_data(data, options);
  int differ = 0;
  for (std::size_t i = 0; i < shown.series[0].y.size(); ++i)
    differ += std::isnan(shown.series[0].y[i]) != std::isnan(other.series[0].y[i]) ? 1 : 0;
  EXPECT_GT(differ, 100);
}

TEST(ShownData, NamesEveryOptionThatIsWrong) {
  EvaluateOptions options;
  options.hide = 1;
  options.hide_run = 0;
  options.threads = -1;
  try {
    shown_data(simulated_run(), options);
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    for (const char* part : {"hide = 1", "hide_run = 0", "threads = -1"})
      EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
}

}  // namespace
}  // namespace kalmia::study
