// Data and descriptions that several tests of this folder share.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kalmia/classical.hpp"
#include "kalmia/data.hpp"
#include "kalmia/simulate.hpp"
#include "model/learned_model.hpp"
#include "support/expert_spec.hpp"
#include "support/reference.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Series with these values of one channel.
inline Dataset dataset_of(const std::vector<std::vector<double>>& series) {
  Dataset data;
  data.y_names = {"y"};
  for (const auto& y : series) {
    Series& each = data.series.emplace_back();
    each.key = std::to_string(data.series.size());
    each.steps = static_cast<int>(y.size());
    each.y = y;
  }
  return data;
}

/// x[k] = x[k-1] + N(0, q), y = x + N(0, r).
inline std::vector<double> local_level(int steps, double q, double r, std::uint64_t seed) {
  RandomStream random(seed, "local level");
  std::vector<double> y;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    x += std::sqrt(q) * random.normal();
    y.push_back(x + std::sqrt(r) * random.normal());
  }
  return y;
}

/// A static model of a motion prior for the classical filter, in the user's units.
inline LinearModel classical_model(const StaticResult& fitted) {
  const auto model = fitted.alone<double>();
  const model::Units& units = fitted.description.units;
  const std::vector<prior::StateKind>& states = model->expert().states;
  const std::size_t N = states.size(), M = units.y_scale.size();
  const auto covariance = [&](const double* packed) {
    std::vector<double> L(N * N), P(N * N);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const double v = packed[lanes::triangle_index(static_cast<int>(i), static_cast<int>(j))];
        L[i * N + j] = units.x_scale[i] * (i == j && v < 30 ? std::log1p(std::exp(v)) : v);
      }
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j)
        for (std::size_t p = 0; p < N; ++p) P[i * N + j] += L[i * N + p] * L[j * N + p];
    return P;
  };
  LinearModel linear;
  linear.state_dim = static_cast<int>(N);
  linear.meas_dim = static_cast<int>(M);
  linear.H = model->expert().H;
  for (const prior::StateKind& i : states)
    for (const prior::StateKind& j : states) {
      const int up = j.derivative - i.derivative;
      linear.F.push_back(i.channel == j.channel && up >= 0
                             ? std::pow(fitted.description.dt, up) / std::tgamma(up + 1)
                             : 0);
    }
  const std::vector<double> density = covariance(fitted.output.data() + N * N + N);
  const auto size = static_cast<Eigen::Index>(N);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
  for (std::size_t n = 0; n + 1 < N; ++n)
    if (states[n + 1].derivative == states[n].derivative + 1)
      A(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n + 1)) = 1;
  const double dt = fitted.description.dt;
  const Eigen::MatrixXd Q = reference::flow_noise(
      A, Eigen::Map<const Eigen::MatrixXd>(density.data(), size, size) / dt, dt);
  linear.Q.assign(Q.data(), Q.data() + Q.size());
  linear.P0 = covariance(fitted.initial_L.data());
  for (std::size_t n = 0; n < N; ++n)
    linear.x0.push_back(units.x_offset[n] + units.x_scale[n] * fitted.initial_e[n]);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < M; ++j)
      linear.R.push_back(fitted.R[i * M + j] * units.y_scale[i] * units.y_scale[j]);
  return linear;
}

/// What fit() makes of a data set and a prior before it trains.
struct Case {
  Dataset data;
  std::vector<model::ChannelStatistics> channels;
  model::DriveStatistics drive;
  model::ModelDescription description;
  ScaledData scaled;

  Case(Dataset the_data, const std::string& prior)
      : Case(std::move(the_data), test::named(prior)) {}
  Case(Dataset the_data, const prior::ExpertSpec& prior)
      : data(std::move(the_data)),
        channels(model::channel_statistics(data)),
        drive(model::drive_statistics(data)),
        description(describe(prior)),
        scaled(data, description.units, description.dt) {}

  std::vector<StepRange> everything() const {
    std::vector<StepRange> all;
    for (std::size_t s = 0; s < data.series.size(); ++s)
      if (data.series[s].steps > 0) all.push_back({static_cast<int>(s), 0, data.series[s].steps});
    return all;
  }

 private:
  model::ModelDescription describe(const prior::ExpertSpec& prior) const {
    model::ModelDescription d;
    d.measured_names = data.y_names;
    d.prior = prior;
    d.input_names = data.u_names;
    d.time = data.time_kind;
    d.dt = drive.dt;
    const prior::Expert expert = model::expert_of(d);
    d.units = model::make_units(expert, channels, d.dt);
    d.features = model::make_features(expert, channels, drive, d.units);
    return d;
  }
};

/// A nonlinear oscillator, with truth.
inline Dataset oscillator(int steps, std::uint64_t seed = 1) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = seed;
  return simulate("van-der-pol", options);
}

}  // namespace kalmia::train
