// What parts add to channels: their names, that they add up to what is measured, and their moments
// against the joint posterior of all states.
#include "infer/part_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "infer/infer_cases.hpp"
#include "infer/measured_map.hpp"
#include "kalmia/error.hpp"
#include "kalmia/listing.hpp"

namespace kalmia::infer {
namespace {

using test::Matrix;
using test::Vector;
using RowNames = std::vector<std::string>;

RowNames row_names(const test::LearnedCase& made) {
  RowNames names;
  for (const PartRow& row : part_rows(*made.make<float>())) names.push_back(row.name);
  return names;
}

std::string parts_refusal(const test::LearnedCase& made) {
  try {
    part_rows(*made.make<float>());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// A usual step is half a unit of time.
TEST(PartRows, NamesAreThoseThatUsersWrite) {
  EXPECT_EQ(row_names(test::sum_case("trend + season(6, 2) + memory(4)", 1)),
            (RowNames{"north:trend", "north:season(3)", "north:memory"}));
  EXPECT_EQ(
      row_names(test::sum_case("north: memory + season(6, 1) + memory; east: level", 2)),
      (RowNames{"north:mean", "north:memory", "north:season(3)", "north:memory2", "east:level"}));
  // Priors with a name are sums of one part.
  EXPECT_EQ(row_names(test::static_case(2)), (RowNames{"north:trend", "east:trend"}));
}

// The mean of a channel is in one row, and the rows of a channel are what it measures.
TEST(PartRows, AddUpToTheChannel) {
  for (const char* parts : {"trend + season(6, 2)", "season(6, 2) + level + trend",
                            "season(6, 2) + memory + ar(3)", "season(6, 2)", "memory",
                            "north: trend + ar(2); east: oscillator + memory + season(5, 2)"}) {
    SCOPED_TRACE(parts);
    const auto model = test::sum_case(parts, 2).make<float>();
    const std::vector<PartRow> rows = part_rows(*model);
    const MeasuredMap map(*model);
    RandomStream random(71, "states");
    std::vector<double> x(static_cast<std::size_t>(model->state_dim())), y(2);
    for (double& value : x) value = 50 * random.normal();
    map.at(x.data(), y.data(), nullptr);
    double sums[2] = {}, offsets[2] = {};
    for (const PartRow& each : rows) {
      const std::size_t m = each.name.starts_with("north:") ? 0 : 1;
      sums[m] += each.offset;
      for (std::size_t n = 0; n < x.size(); ++n) sums[m] += each.row[n] * x[n];
      // At its mean state a part adds nothing, or the channel's mean.
      double at_mean = each.offset;
      for (std::size_t n = 0; n < x.size(); ++n)
        at_mean += each.row[n] * model->description().units.x_offset[n];
      EXPECT_TRUE(at_mean == 0 || at_mean == (m == 0 ? 100 : -8)) << each.name << " " << at_mean;
      offsets[m] += at_mean;
    }
    for (std::size_t m = 0; m < 2; ++m) {
      EXPECT_NEAR(sums[m], y[m], 1e-13 * (std::abs(y[m]) + 300)) << m;
      EXPECT_EQ(offsets[m], m == 0 ? 100 : -8);
    }
  }
}

TEST(PartRows, AMeanOfItsOwnOnlyWhereNothingCarriesTheLevel) {
  const auto model = test::sum_case("north: season(6, 2) + trend; east: season(6, 2)", 2);
  const std::vector<PartRow> rows = part_rows(*model.make<float>());
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].name, "east:mean");
  EXPECT_EQ(rows[2].offset, -8);
  for (const double factor : rows[2].row) EXPECT_EQ(factor, 0);
  EXPECT_EQ(rows[3].offset, 8);  // its first state lies about the mean
  EXPECT_EQ(rows[0].offset, 0);
  EXPECT_EQ(rows[1].offset, 0);
}

// A file may have other origins than a fit gives states; what no state holds is in the same place.
TEST(PartRows, WhatNoStateHoldsIsTheMeanAsWell) {
  test::LearnedCase made =
      test::sum_case("north: season(6, 2) + trend + level; east: season(6, 2) + memory", 2);
  std::ranges::fill(made.description.units.x_offset, 0);
  const std::vector<PartRow> rows = part_rows(*made.make<float>());
  const double offsets[] = {0, 100, 0, -8, 0, 0};
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t p = 0; p < 6; ++p) EXPECT_EQ(rows[p].offset, offsets[p]) << rows[p].name;
}

TEST(PartRows, OtherModelsAreRefused) {
  EXPECT_EQ(
      parts_refusal(test::lorenz_case()),
      "parts: the model's prior is lorenz, but it must be a sum of parts, as trend + "
      "season(24) or lorenz + level is, or a motion of each channel, as constant-velocity is");
  EXPECT_NE(parts_refusal(test::pendulum_case()).find("prior is system"), std::string::npos);
  model::ModelDescription d = test::motion_description(1);
  d.head = heads::HeadKind::Direct;
  d.hidden = 3;
  d.decoder = {3};
  test::LearnedCase made{d, {}, test::whole_noise(1)};
  made.parameters.resize(static_cast<std::size_t>(test::architecture_of(d).parameters.size()));
  EXPECT_EQ(parts_refusal(made),
            "parts: a recurrent filter estimates what is measured, not the parts of it; fit with "
            "filter = recursive");
}

// x of "north: trend + season(6, 2); east: memory + season(5, 1)" in the model's units: dx/dt = A
// x.
Matrix sum_flow(double damping) {
  Matrix A = Matrix::Zero(9, 9);
  A(0, 1) = 1;
  const auto turn = [&A](int at, double period) {
    const double w = 2 * std::numbers::pi / period;
    A(at, at + 1) = w;
    A(at + 1, at) = -w;
  };
  turn(2, 6);
  turn(4, 3);
  A(6, 6) = -damping;
  turn(7, 5);
  return A;
}

/// The mean and the variance of e' x (+ offset), in the user's units.
struct Share {
  std::vector<int> states;
  int channel;
  double offset;
};

TEST(PartRows, MomentsAreThoseOfTheJointPosterior) {
  const test::LearnedCase made =
      test::sum_case("north: trend + season(6, 2); east: memory(4) + season(5, 1)", 2);
  const Share shares[] = {{{0}, 0, 100}, {{2, 4}, 0, 0}, {{}, 1, -8}, {{6}, 1, 0}, {{7}, 1, 0}};
  const Dataset data = test::motion_data(2, {25, 9}, 12, 0.3);
  const Model model = test::public_model(made);
  const Listing listing(model, {.parts = true});
  EXPECT_EQ(listing.names(), (RowNames{"north", "east", "north:trend", "north:season(3)",
                                       "east:mean", "east:memory", "east:season(2.5)"}));
  const Estimates found = listing.of(model.smooth(data, 1));

  const model::Units& units = made.description.units;
  const Matrix A = sum_flow(0.25);
  reference::DenseSystem s;
  s.F = A.exp();
  s.e = Vector::Zero(9);
  s.Q = reference::flow_noise(A, test::whole_covariance(9, 32), 1);
  s.H = Matrix::Zero(2, 9);
  s.H(0, 0) = s.H(0, 2) = s.H(0, 4) = s.H(1, 6) = s.H(1, 7) = 1;
  s.R = Eigen::Map<const Matrix>(made.R.data(), 2, 2);
  s.initial.mean.resize(9);
  for (int n = 0; n < 9; ++n) s.initial.mean(n) = 5 * n - 3;
  s.initial.cov = test::whole_covariance(9, 128);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Vector> y = test::vectors(data.series[i].y, 2);
    for (Vector& each : y)
      for (int m = 0; m < 2; ++m)
        each(m) = (each(m) - units.y_offset[static_cast<std::size_t>(m)]) /
                  units.y_scale[static_cast<std::size_t>(m)];
    const std::vector<reference::Gaussian> dense = reference::joint_smoothed(s, y);
    for (std::size_t k = 0; k < y.size(); ++k)
      for (std::size_t p = 0; p < 5; ++p) {
        Vector e = Vector::Zero(9);
        for (const int n : shares[p].states) e(n) = 1;
        const double scale = units.y_scale[static_cast<std::size_t>(shares[p].channel)];
        const double variance = scale * scale * e.dot(dense[k].cov * e);
        const StateEstimates& of = found.series[i];
        EXPECT_NEAR(of.mean[k * 7 + 2 + p], shares[p].offset + scale * e.dot(dense[k].mean),
                    1e-4 * std::max(1.0, std::sqrt(variance)))
            << k << " " << p;
        EXPECT_NEAR(of.covariance[k * 49 + (2 + p) * 8], variance, 1e-5 * variance)
            << k << " " << p;
      }
  }
}

// In the model's units, with a step as the unit of time: x, v, then "north: memory + trend", then
// "east: level".
Matrix spring_flow() {
  Matrix A = Matrix::Zero(6, 6);
  A.topLeftCorner(2, 2) = 0.5 * Matrix{{0, 1}, {-4, -0.5}};
  A(2, 2) = -0.25;
  A(3, 4) = 1;
  return A;
}

// What equations add comes first; it is a combination of their states.
TEST(PartRows, BesideEquationsMomentsAreThoseOfTheJointPosterior) {
  const test::LearnedCase made = test::spring_case("north: memory(4) + trend; east: level");
  const Dataset data = test::motion_data(2, {25, 9}, 14, 0.3);
  const Model model = test::public_model(made);
  const Listing listing(model, {.parts = true});
  ASSERT_EQ(listing.names(),
            (RowNames{"north", "east", "x", "v", "north_memory", "north_trend", "north_trend_rate",
                      "east_level", "north:system", "north:memory", "north:trend", "east:system",
                      "east:level"}));
  const Estimates found = listing.of(model.smooth(data, 1));
  // The states behind the channels, in the user's units: the trend's rate is by time.
  Matrix rows = Matrix::Zero(11, 6);
  rows.topRows(6).setIdentity();
  rows(4, 4) = 2;
  rows(6, 0) = rows(7, 2) = rows(8, 3) = rows(9, 0) = rows(10, 5) = 1;
  rows(9, 1) = -2;
  const Matrix A = spring_flow();
  reference::DenseSystem s;
  s.F = A.exp();
  s.e = Vector::Zero(6);
  s.Q = reference::flow_noise(A, test::whole_covariance(6, 32), 1);
  s.H = Matrix::Zero(2, 6);
  s.H(0, 0) = s.H(0, 2) = s.H(0, 3) = s.H(1, 0) = s.H(1, 5) = 1;
  s.H(1, 1) = -2;
  s.R = Eigen::Map<const Matrix>(made.R.data(), 2, 2);
  s.initial.mean.resize(6);
  for (int n = 0; n < 6; ++n) s.initial.mean(n) = 5 * n - 3;
  s.initial.cov = test::whole_covariance(6, 128);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Vector> y = test::vectors(data.series[i].y, 2);
    const std::vector<reference::Gaussian> dense = reference::joint_smoothed(s, y);
    for (std::size_t k = 0; k < y.size(); ++k)
      for (Eigen::Index p = 0; p < 11; ++p) {
        const Vector row = rows.row(p);
        const double variance = row.dot(dense[k].cov * row);
        const auto at = static_cast<std::size_t>(2 + p);
        EXPECT_NEAR(found.series[i].mean[k * 13 + at], row.dot(dense[k].mean),
                    1e-4 * std::sqrt(variance))
            << k << " " << p;
        EXPECT_NEAR(found.series[i].covariance[k * 169 + at * 14], variance, 1e-5 * variance)
            << k << " " << p;
      }
  }
}

// Of a measurement that is no linear function, too: what is measured less the parts.
TEST(PartRows, BesideEquationsTheyAddUpToTheChannel) {
  const test::LearnedCase made = test::spring_case("memory(4) + season(6, 2)", false);
  const Dataset data = test::motion_data(2, {30, 12}, 5, 0.3);
  const Model model = test::public_model(made);
  const Listing listing(model, {.parts = true});
  const std::size_t K = listing.names().size();
  ASSERT_EQ(K, 2u + 12 + 6);
  for (const Estimates& states :
       {model.filter(data, 1), model.smooth(data, 1), model.forecast(data, 6, 1)}) {
    const Estimates found = listing.of(states);
    for (const StateEstimates& each : found.series)
      for (std::size_t k = 0; k < static_cast<std::size_t>(each.steps); ++k) {
        const double* mean = each.mean.data() + k * K;
        const double x = mean[2];
        EXPECT_NEAR(mean[14], x + x * x * x / 1000, 1e-9 * (1 + std::abs(mean[14])));
        EXPECT_NEAR(mean[17], x - 2 * mean[3], 1e-9 * (1 + std::abs(mean[17])));
        for (std::size_t m = 0; m < 2; ++m)
          EXPECT_NEAR(mean[14 + 3 * m] + mean[15 + 3 * m] + mean[16 + 3 * m], mean[m],
                      1e-12 * (100 + std::abs(mean[m])));
        // Without the covariance that parts share with x: that of h(x) alone.
        const double slope = 1 + 3 * x * x / 1000;
        const double variance = slope * slope * each.covariance[k * K * K + 2 * (K + 1)];
        EXPECT_NEAR(each.covariance[k * K * K + 14 * (K + 1)], variance, 1e-9 * variance);
      }
  }
}

// Filtered, calibrated, mixed and forecast states alike: e' P e, and sums that are the channels.
TEST(PartRows, MomentsOfAllEstimates) {
  const test::LearnedCase made = test::sum_case("memory(4) + season(6, 2)", 2);
  test::LearnedCase second = made;
  for (double& r : second.R) r *= 2;
  const Dataset data = test::motion_data(2, {30, 0, 12}, 5, 0.3);
  const Model calibrated = test::public_model(made, model::Calibration{3, 4, 1});
  const Model mixture = test::model_of(
      std::vector<test::Member>{made.make<float>(), second.make<float>()}, std::nullopt);
  for (const Model& model : {calibrated, mixture}) {
    const Listing listing(model, {.parts = true});
    for (const Estimates& states :
         {model.filter(data, 1), model.smooth(data, 1), model.forecast(data, 6, 1)}) {
      const Estimates found = listing.of(states);
      const std::vector<PartRow> rows = part_rows(model.impl().first());
      ASSERT_EQ(found.state_names.size(), 8u);
      for (std::size_t i = 0; i < found.series.size(); ++i)
        for (std::size_t k = 0; k < static_cast<std::size_t>(found.series[i].steps); ++k) {
          const double* mean = found.series[i].mean.data() + k * 8;
          for (std::size_t m = 0; m < 2; ++m)
            EXPECT_NEAR(mean[2 + 3 * m] + mean[3 + 3 * m] + mean[4 + 3 * m], mean[m],
                        1e-12 * (100 + std::abs(mean[m])));
          for (std::size_t p = 0; p < 6; ++p) {
            double variance = 0;
            for (std::size_t a = 0; a < 10; ++a)
              for (std::size_t b = 0; b < 10; ++b)
                variance += rows[p].row[a] * rows[p].row[b] *
                            states.series[i].covariance[k * 100 + a * 10 + b];
            EXPECT_NEAR(found.series[i].covariance[k * 64 + (2 + p) * 9], variance,
                        1e-12 * variance);
          }
        }
    }
  }
}

}  // namespace
}  // namespace kalmia::infer
