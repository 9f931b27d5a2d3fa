// Fitted models and data for the tests of inference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kalman/classical_cases.hpp"
#include "model/learned_cases.hpp"
#include "support/ensembles.hpp"

namespace kalmia::test {

inline Model public_model(const LearnedCase& made,
                          std::optional<model::Calibration> calibration = {}) {
  return model_of(made.make<float>(), calibration);
}

/// Series of these lengths: a random walk with noise, in the user's units of motion_description;
/// some values are missing.
inline Dataset motion_data(int channels, const std::vector<int>& lengths, std::uint64_t seed,
                           double missing = 0.15) {
  const model::ModelDescription d = motion_description(channels);
  RandomStream random(seed, "motion data");
  Dataset data;
  data.source = "walk.csv";
  data.key_name = "robot";
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  data.y_names = d.measured_names;
  for (const int steps : lengths) {
    Series& series = data.series.emplace_back();
    series.key = 'r';
    series.key += std::to_string(data.series.size());
    series.steps = steps;
    std::vector<double> level(static_cast<std::size_t>(channels));
    for (int k = 0; k < steps; ++k) {
      series.t.push_back(10 + d.dt * k);
      for (std::size_t c = 0; c < level.size(); ++c) {
        level[c] += 40 * random.normal();
        const double noise = 40 * random.normal();
        const bool seen = random.uniform() >= missing;
        series.y.push_back(seen ? d.units.y_offset[c] + d.units.y_scale[c] * (level[c] + noise)
                                : std::nan(""));
      }
    }
  }
  return data;
}

/// One series of a data set on its own.
inline Dataset alone(const Dataset& data, std::size_t s) {
  Dataset one = data;
  one.series = {data.series[s]};
  return one;
}

/// A data set as the classical filters read it; `extra` missing steps follow each series.
struct PaddedData {
  std::vector<double> y;
  std::vector<int> lengths;
  MeasurementsView view;

  explicit PaddedData(const Dataset& data, int extra = 0) {
    int longest = 0;
    for (const Series& series : data.series) {
      lengths.push_back(series.steps + extra);
      longest = std::max(longest, lengths.back());
    }
    const std::size_t M = data.y_names.size();
    for (const Series& series : data.series) {
      y.insert(y.end(), series.y.begin(), series.y.end());
      y.resize(y.size() + static_cast<std::size_t>(longest - series.steps) * M, std::nan(""));
    }
    view.data = y.data();
    view.series = static_cast<int>(data.series.size());
    view.steps = longest;
    view.meas_dim = static_cast<int>(M);
    view.lengths = lengths;
  }
};

/// The static model of motion_description as a classical filter takes it.
inline LinearModel classical_model(int channels) {
  return linear_model(static_system(motion_description(channels)));
}

inline double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Rows first..first+steps-1 of series s of a classical result.
inline std::span<const double> rows(const FilterResult& result, const Array& array, std::size_t s,
                                    int first, int steps, int width) {
  return {array.data() +
              (s * static_cast<std::size_t>(result.steps) + static_cast<std::size_t>(first)) *
                  static_cast<std::size_t>(width),
          static_cast<std::size_t>(steps * width)};
}

/// Differences relative to the larger of 1 and the expected number.
inline void expect_close(std::span<const double> found, std::span<const double> expected,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", number " << i;
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

inline void expect_same_bits(const Estimates& a, const Estimates& b) {
  ASSERT_EQ(a.series.size(), b.series.size());
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  for (std::size_t s = 0; s < a.series.size(); ++s) {
    EXPECT_EQ(a.series[s].key, b.series[s].key);
    EXPECT_TRUE(same_bits(a.series[s].mean, b.series[s].mean)) << "series " << s;
    EXPECT_TRUE(same_bits(a.series[s].covariance, b.series[s].covariance)) << "series " << s;
    EXPECT_TRUE(same_bits(a.series[s].t, b.series[s].t)) << "series " << s;
  }
}

/// The measurements of a series as the references read them.
inline std::vector<reference::Vector> vectors(std::span<const double> y, int M) {
  std::vector<reference::Vector> result;
  for (std::size_t at = 0; at < y.size(); at += static_cast<std::size_t>(M))
    result.push_back(Eigen::Map<const reference::Vector>(y.data() + at, M));
  return result;
}

/// Covariance (all states of all steps) of x[0..K] given the measured components of y, from the
/// joint precision.
inline Matrix joint_covariance(const reference::DenseSystem& s,
                               const std::vector<reference::Vector>& y) {
  const Eigen::Index N = s.F.rows(), K = static_cast<Eigen::Index>(y.size());
  Matrix precision = Matrix::Zero(N * K, N * K);
  precision.topLeftCorner(N, N) = s.initial.cov.inverse();
  Matrix step(N, 2 * N);
  step << -s.F, Matrix::Identity(N, N);
  for (Eigen::Index k = 0; k < K; ++k) {
    if (k > 0)
      precision.block((k - 1) * N, (k - 1) * N, 2 * N, 2 * N) +=
          step.transpose() * s.Q.inverse() * step;
    const std::vector<int> rows = reference::observed_components(y[static_cast<std::size_t>(k)]);
    if (rows.empty()) continue;
    const Matrix H = s.H(rows, Eigen::all);
    precision.block(k * N, k * N, N, N) += H.transpose() * Matrix(s.R(rows, rows)).inverse() * H;
  }
  return precision.inverse();
}

}  // namespace kalmia::test
