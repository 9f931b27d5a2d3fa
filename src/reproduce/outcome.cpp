#include "reproduce/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/evaluation.hpp"
#include "study/scores.hpp"

namespace kalmia::reproduction {

Decomposition decompose(const Dataset& data, const study::Truth& truth,
                        const std::vector<Innovations>& innovations, std::span<const double> R) {
  const std::size_t M = data.y_names.size();
  study::Mean self_supervised, reducible, prediction, difference, difference_square;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Series& series = data.series[s];
    const std::vector<double>& residual = innovations[s].residual;
    for (std::size_t k = kUnscored; k < static_cast<std::size_t>(series.steps); ++k)
      for (std::size_t m = 0; m < M; ++m) {
        const double r = residual[k * M + m];
        const double error = series.y[k * M + m] - r - truth.y[s][k * M + m];
        self_supervised.add(r * r);
        reducible.add(r * r - R[m * M + m]);
        prediction.add(error * error);
        const double one = r * r - R[m * M + m] - error * error;
        difference.add(one);
        difference_square.add(one * one);
      }
  }
  const double mean = difference.value().value_or(0);
  const double variance = std::max(0.0, difference_square.value().value_or(0) - mean * mean);
  return {self_supervised.value().value_or(0), reducible.value().value_or(0),
          prediction.value().value_or(0),
          std::sqrt(variance / static_cast<double>(std::max<std::size_t>(1, difference.count())))};
}

namespace {

Estimates estimates_of(const Moments& moments, const Dataset& data, std::size_t N,
                       double log_likelihood) {
  Estimates estimates;
  for (std::size_t i = 0; i < N; ++i) estimates.state_names.push_back(fmt::format("x{}", i + 1));
  StateEstimates series;
  series.steps = data.series[0].steps;
  series.mean.assign(moments.mean.begin(), moments.mean.end());
  series.covariance.assign(moments.covariance.begin(), moments.covariance.end());
  estimates.series.push_back(std::move(series));
  estimates.log_likelihood = log_likelihood;
  estimates.measured_values = data.series[0].y.size();
  return estimates;
}

// S = H P[k|<k] H' + R of every step.
std::vector<double> innovation_covariances(const FilterResult& result, const std::vector<double>& H,
                                           const std::vector<double>& R, std::size_t N,
                                           std::size_t M) {
  const auto steps = static_cast<std::size_t>(result.steps);
  std::vector<double> S(steps * M * M);
  for (std::size_t k = 0; k < steps; ++k) {
    const double* const P = &result.predicted.covariance[k * N * N];
    for (std::size_t a = 0; a < M; ++a)
      for (std::size_t b = 0; b < M; ++b) {
        double sum = R[a * M + b];
        for (std::size_t i = 0; i < N; ++i)
          for (std::size_t j = 0; j < N; ++j) sum += H[a * N + i] * P[i * N + j] * H[b * N + j];
        S[(k * M + a) * M + b] = sum;
      }
  }
  return S;
}

std::vector<double> first_channels(const StateEstimates& estimates, const std::vector<double>& H,
                                   std::size_t M) {
  const std::size_t N = H.size() / M;
  const auto steps = static_cast<std::size_t>(std::min(estimates.steps, kTrajectory));
  std::vector<double> channels(steps * M, 0.0);
  for (std::size_t k = 0; k < steps; ++k)
    for (std::size_t m = 0; m < M; ++m)
      for (std::size_t i = 0; i < N; ++i)
        channels[k * M + m] += H[m * N + i] * estimates.mean[k * N + i];
  return channels;
}

}  // namespace

std::size_t truth_column(const Dataset& data, std::size_t m) {
  const std::string name = "true_" + data.y_names[m];
  const auto found = std::find(data.x_names.begin(), data.x_names.end(), name);
  if (found == data.x_names.end())
    throw DataError("the test trajectory has no truth named " + name);
  return static_cast<std::size_t>(found - data.x_names.begin());
}

Pass classical_pass(const FilterResult& result, const Dataset& data, std::vector<double> H,
                    std::vector<double> R) {
  const auto N = static_cast<std::size_t>(result.state_dim);
  const auto M = static_cast<std::size_t>(result.meas_dim);
  Pass pass;
  const double log_likelihood = result.log_likelihood[0];
  pass.analysis.filtered = estimates_of(result.filtered, data, N, log_likelihood);
  pass.analysis.smoothed = result.smoothed.mean.empty()
                               ? pass.analysis.filtered
                               : estimates_of(result.smoothed, data, N, log_likelihood);
  Innovations innovations;
  innovations.residual.assign(result.innovations.begin(), result.innovations.end());
  innovations.covariance = innovation_covariances(result, H, R, N, M);
  pass.analysis.innovations.push_back(std::move(innovations));
  pass.H = std::move(H);
  pass.R = std::move(R);
  return pass;
}

Outcome outcome_of(const Pass& pass, const Dataset& test, Scored what) {
  const study::Measure measure = study::linear_measure(pass.H, test.y_names.size());
  return outcome_of(pass, test, study::truth_in_order(test, measure), what);
}

Outcome outcome_of(const Pass& pass, const Dataset& test, const study::Truth& truth, Scored what) {
  const study::Measure measure = study::linear_measure(pass.H, test.y_names.size());
  const Evaluation e =
      study::score(test, test, truth, pass.analysis.filtered, pass.analysis.smoothed,
                   pass.analysis.innovations, measure, pass.R);
  const bool filter = what == Scored::Filter;
  Outcome outcome;
  ReproduceRow& row = outcome.row;
  row.state_mse = filter ? e.state_mse_filtered : e.state_mse_smoothed;
  row.position_mse = filter ? e.mse_filtered : e.mse_smoothed;
  row.nees = filter ? e.nees_filtered : e.nees;
  row.coverage95 = filter ? e.coverage95_filtered : e.coverage95;
  if (what != Scored::SmootherAlone && test.series[0].steps > kUnscored) {
    const Decomposition parts = decompose(test, truth, pass.analysis.innovations, pass.R);
    row.self_supervised_error = parts.self_supervised;
    row.reducible_error = parts.reducible;
    row.prediction_error = parts.prediction;
    row.reducible_error_std = parts.standard_error;
  }
  outcome.channels =
      first_channels((filter ? pass.analysis.filtered : pass.analysis.smoothed).series[0], pass.H,
                     test.y_names.size());
  return outcome;
}

double state_mse_with_zeros(const Dataset& test, double channel_mse) {
  const std::size_t M = test.y_names.size(), N = test.x_names.size();
  const Series& series = test.series[0];
  std::vector<bool> measured(N, false);
  for (std::size_t m = 0; m < M; ++m) measured[truth_column(test, m)] = true;
  double sum = 0;
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (!measured[i % N]) sum += series.x[i] * series.x[i];
  return (static_cast<double>(M) * channel_mse + sum / series.steps) / static_cast<double>(N);
}

Outcome raw_outcome(const Dataset& test) {
  const std::size_t M = test.y_names.size(), N = test.x_names.size();
  const Series& series = test.series[0];
  double sum = 0;
  for (std::size_t m = 0; m < M; ++m) {
    const std::size_t column = truth_column(test, m);
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
      const double error = series.y[k * M + m] - series.x[k * N + column];
      sum += error * error;
    }
  }
  Outcome outcome;
  outcome.row.position_mse = sum / static_cast<double>(series.y.size());
  if (M == N) outcome.row.state_mse = outcome.row.position_mse;
  const auto kept = static_cast<std::size_t>(std::min(series.steps, kTrajectory)) * M;
  outcome.channels.assign(series.y.begin(), series.y.begin() + static_cast<std::ptrdiff_t>(kept));
  return outcome;
}

}  // namespace kalmia::reproduction
