// Data that say how noisy each value is: every estimate is the classical one with that noise.
//
// The classical filters have one R for all steps. Divided by its own deviation a value has noise of
// deviation 1 at every step: y[k] / s[k] = (H / s[k]) x[k] + N(0, C), with C the correlation of R.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/classical.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

constexpr int kChannels = 2;

Dataset noisy_data(const std::vector<int>& lengths, std::uint64_t seed) {
  Dataset data = test::motion_data(kChannels, lengths, seed);
  data.std_names = {"north_std", "east_std"};
  RandomStream random(seed, "deviations");
  for (Series& series : data.series)
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      // From a tenth to ten times what the model takes for usual.
      const double usual = i % 2 == 0 ? 10 : 180;
      const double std = usual * std::pow(10, random.uniform(-1, 1));
      series.y_std.push_back(std::isnan(series.y[i]) ? -1 : std);  // of no account
    }
  return data;
}

// The classical filter of a series that is divided by its deviations.
struct Classical {
  NonlinearModel model;
  std::vector<double> y;
  double log_stds = 0;  // of the measured values

  Classical(const Series& series, double factor = 1, int extra = 0) {
    const reference::DenseSystem s = test::static_system(test::motion_description(kChannels));
    const int N = static_cast<int>(s.F.rows()), M = kChannels;
    model.state_dim = N;
    model.meas_dim = M;
    const auto rows = [](const test::Matrix& m) {
      const test::Matrix t = m.transpose();
      return std::vector<double>(t.data(), t.data() + t.size());
    };
    std::vector<double> stds;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const bool missing = std::isnan(series.y[i]);
      stds.push_back(missing ? 1 : factor * series.y_std[i]);
      if (!missing) log_stds += std::log(stds.back());
      y.push_back(series.y[i] / stds.back());
    }
    y.resize(y.size() + static_cast<std::size_t>(extra * M), std::nan(""));
    stds.resize(y.size(), 1.0);
    model.transition = [s, N](std::span<const double> x, int, std::span<double> value,
                              std::span<double> jacobian) {
      const Eigen::Map<const Eigen::VectorXd> at(x.data(), N);
      const Eigen::VectorXd next = s.F * at + s.e;
      for (int i = 0; i < N; ++i) {
        value[static_cast<std::size_t>(i)] = next(i);
        for (int j = 0; j < N; ++j) jacobian[static_cast<std::size_t>(i * N + j)] = s.F(i, j);
      }
    };
    model.emission = [s, N, M, stds](std::span<const double> x, int k, std::span<double> value,
                                     std::span<double> jacobian) {
      const Eigen::Map<const Eigen::VectorXd> at(x.data(), N);
      for (int i = 0; i < M; ++i) {
        const double std = stds[static_cast<std::size_t>(k * M + i)];
        value[static_cast<std::size_t>(i)] = s.H.row(i).dot(at) / std;
        for (int j = 0; j < N; ++j) jacobian[static_cast<std::size_t>(i * N + j)] = s.H(i, j) / std;
      }
    };
    const Eigen::VectorXd d = s.R.diagonal().cwiseSqrt().cwiseInverse();
    model.R = rows(d.asDiagonal() * s.R * d.asDiagonal());
    model.Q = rows(s.Q);
    model.P0 = rows(s.initial.cov);
    model.x0.assign(s.initial.mean.data(), s.initial.mean.data() + N);
  }

  FilterResult smooth() const {
    return extended_rts_smoother(
        model, {y.data(), 1, static_cast<int>(y.size()) / kChannels, kChannels, {}});
  }
};

constexpr double kClose = 1e-9;

TEST(ModelNoise, EstimatesAreThoseOfTheClassicalFilter) {
  const Model model = test::public_model(test::static_case(kChannels));
  const Dataset data = noisy_data({40, 7, 65}, 5);
  const Analysis found = model.analyse(data);
  double log_likelihood = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Classical classical(data.series[s]);
    const FilterResult expected = classical.smooth();
    log_likelihood += expected.log_likelihood[0] - classical.log_stds;
    const auto all = [](const Array& a) { return std::span(a.data(), a.size()); };
    test::expect_close(found.filtered.series[s].mean, all(expected.filtered.mean), kClose, "mean");
    test::expect_close(found.filtered.series[s].covariance, all(expected.filtered.covariance),
                       kClose, "covariance");
    test::expect_close(found.smoothed.series[s].mean, all(expected.smoothed.mean), kClose,
                       "smoothed mean");
    test::expect_close(found.smoothed.series[s].covariance, all(expected.smoothed.covariance),
                       kClose, "smoothed covariance");
    // H P H' + R of the step.
    const Series& series = data.series[s];
    const std::size_t N = 4, M = kChannels;
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k)
      for (std::size_t m = 0; m < M; ++m) {
        if (std::isnan(series.y[k * M + m])) continue;
        const double variance = series.y_std[k * M + m] * series.y_std[k * M + m];
        const double P = expected.predicted.covariance[(k * N + 2 * m) * N + 2 * m];
        EXPECT_NEAR(found.innovations[s].covariance[(k * M + m) * M + m], P + variance,
                    kClose * (P + variance));
        EXPECT_NEAR(found.innovations[s].noise[k * M + m], variance, kClose * variance);
      }
  }
  EXPECT_NEAR(found.filtered.log_likelihood, log_likelihood, kClose * std::abs(log_likelihood));
}

TEST(ModelNoise, StreamAndForecastTakeItToo) {
  const Model model = test::public_model(test::static_case(kChannels));
  const Dataset data = noisy_data({30}, 8);
  const Series& series = data.series[0];
  const Estimates filtered = model.filter(data);
  Stream stream = model.stream();
  Stream::State state = stream.start();
  double log_likelihood = 0;
  const double nan = std::nan("");
  for (std::size_t k = 0; k < 30; ++k) {
    stream.step(state, std::span(series.y).subspan(2 * k, 2), nan, {},
                std::span(series.y_std).subspan(2 * k, 2));
    log_likelihood += stream.log_likelihood();
    test::expect_close(stream.mean(), std::span(filtered.series[0].mean).subspan(4 * k, 4), 1e-12,
                       "mean");
    test::expect_close(stream.covariance(),
                       std::span(filtered.series[0].covariance).subspan(16 * k, 16), 1e-12,
                       "covariance");
  }
  EXPECT_NEAR(log_likelihood, filtered.log_likelihood, 1e-11 * std::abs(log_likelihood));

  const int horizon = 5;
  const FilterResult expected = Classical(series, 1, horizon).smooth();
  const Estimates ahead = model.forecast(data, horizon);
  test::expect_close(ahead.series[0].mean,
                     std::span(expected.filtered.mean.data() + 30 * 4, horizon * 4), kClose,
                     "forecast");
}

// A model that was fitted to such data may have learned that they overstate their precision.
TEST(ModelNoise, ALearnedFactorCounts) {
  test::LearnedCase made = test::static_case(kChannels);
  const double factor = 2.5;
  for (std::size_t m = 0; m < 2; ++m)
    made.description.noise_std.push_back(std::sqrt(made.R[m * 3]) / factor *
                                         made.description.units.y_scale[m]);
  const Model model = test::public_model(made);
  const Dataset data = noisy_data({25}, 11);
  const FilterResult expected = Classical(data.series[0], factor).smooth();
  test::expect_close(model.filter(data).series[0].mean,
                     std::span(expected.filtered.mean.data(), expected.filtered.mean.size()),
                     kClose, "mean");
  // It survives the file.
  const ScratchFolder folder;
  const std::string path = folder.file("factor.kalmia");
  model.save(path);
  test::expect_same_bits(Model::load(path).filter(data), model.filter(data));
}

TEST(ModelNoise, MistakesAreSaid) {
  const Model model = test::public_model(test::static_case(kChannels));
  Dataset data = noisy_data({12, 12}, 3);
  Series& series = data.series[1];
  series.y[7] = 3;
  const auto filter = [&] { model.filter(data); };
  const std::string place =
      "walk.csv, series \"r2\", step 4, column east_std: the standard deviation of east is ";
  const std::string rule =
      ", but a measured value needs one between 1e-100 and 1e100 (leave the value empty if it is "
      "of no use)";
  series.y_std[7] = 0;
  EXPECT_EQ(message_of<DataError>(filter), place + "0" + rule);
  series.y_std[7] = -2;
  EXPECT_EQ(message_of<DataError>(filter), place + "-2" + rule);
  series.y_std[7] = std::nan("");
  EXPECT_EQ(message_of<DataError>(filter), place + "missing" + rule);
  series.y_std.pop_back();
  EXPECT_EQ(message_of<DataError>(filter),
            "walk.csv, series \"r2\": y_std has 23 numbers, but it must have 24");
  data = noisy_data({12}, 3);
  data.std_names.clear();
  EXPECT_EQ(message_of<DataError>(filter),
            "walk.csv, series \"r1\": y_std has 24 numbers, but it must have 0, for std_names is "
            "empty");

  test::LearnedCase made = test::static_case(kChannels);
  made.description.noise_std = {10, 180};
  const Model needs = test::public_model(made);
  const Dataset plain = test::motion_data(kChannels, {9}, 2);
  EXPECT_EQ(message_of<DataError>([&] { needs.filter(plain); }),
            "walk.csv: the model was fitted to data that say how noisy each value is, but these do "
            "not; name the columns that do with --noise-columns");
  Stream stream = needs.stream();
  Stream::State state = stream.start();
  const std::vector<double> y = {1, 2}, stds = {1, 0};
  EXPECT_NE(message_of<DataError>([&] { stream.step(state, y); }), "");
  EXPECT_EQ(message_of<DataError>([&] { stream.step(state, y, std::nan(""), {}, stds); }),
            "value 2: the standard deviation of east is 0" + rule);
}

// Factors scale what is left of a prediction, whatever noise its measurement had: a calibrated model
// is one with a wider prediction, updated by the same gain.
TEST(ModelNoise, ACalibratedModelTakesTheNoiseOfEachValue) {
  const Dataset data = noisy_data({40}, 3);
  const test::LearnedCase made = test::static_case(kChannels);
  const Model plain = test::public_model(made);
  const Model scaled = test::public_model(made, model::Calibration{2, 1, 1});
  const Estimates before = plain.filter(data, 1), after = scaled.filter(data, 1);
  const std::vector<Innovations> innovations = plain.innovations(data, 1);
  const int N = plain.state_dim();
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::vector<double> H_all =
      plain.emission(std::vector<double>(static_cast<std::size_t>(N)));
  const Eigen::Map<const RowMatrix> H(H_all.data(), kChannels, N);
  for (int k = 0; k < 40; ++k) {
    const Eigen::Map<const RowMatrix> P(before.series[0].covariance.data() + k * N * N, N, N);
    const Eigen::Map<const RowMatrix> found(after.series[0].covariance.data() + k * N * N, N, N);
    std::vector<int> rows;
    for (int m = 0; m < kChannels; ++m)
      if (!std::isnan(data.series[0].y[static_cast<std::size_t>(k * kChannels + m)]))
        rows.push_back(m);
    RowMatrix expected = 2 * P;
    if (!rows.empty()) {
      // The noise that the value has here.
      const std::vector<double> R_all = plain.noise();
      RowMatrix R = Eigen::Map<const RowMatrix>(R_all.data(), kChannels, kChannels);
      for (int i = 0; i < kChannels; ++i)
        for (int j = 0; j < kChannels; ++j) {
          const auto own = [&](int m) {
            return std::sqrt(innovations[0].noise[static_cast<std::size_t>(k * kChannels + m)] /
                             R_all[static_cast<std::size_t>(m * kChannels + m)]);
          };
          R(i, j) *= own(i) * own(j);
        }
      const RowMatrix Hk = H(rows, Eigen::all), Rk = R(rows, rows);
      expected -= P * Hk.transpose() * Rk.inverse() * Hk * P;
    }
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        ASSERT_NEAR(found(i, j), expected(i, j), 1e-9 * std::sqrt(P(i, i) * P(j, j))) << k;
  }
  // The same one value at a time.
  Stream stream = scaled.stream();
  Stream::State state = stream.start();
  const Series& series = data.series[0];
  double likelihood = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    const double dt = k == 0 || series.t.empty() ? std::nan("") : series.t[k] - series.t[k - 1];
    stream.step(state, {series.y.data() + k * kChannels, kChannels}, dt, {},
                {series.y_std.data() + k * kChannels, kChannels});
    likelihood += stream.log_likelihood();
    for (std::size_t n = 0; n < static_cast<std::size_t>(N * N); ++n)
      ASSERT_NEAR(stream.covariance()[n],
                  after.series[0].covariance[k * static_cast<std::size_t>(N * N) + n],
                  1e-9 * after.series[0].covariance[k * static_cast<std::size_t>(N * N)]);
  }
  EXPECT_NEAR(likelihood, after.log_likelihood, 1e-9 * std::abs(likelihood));
}

}  // namespace
}  // namespace kalmia
