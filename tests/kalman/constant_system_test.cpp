// The loss of a system that is the same at every step: against the dense covariance of all
// measurements, its adjoint, and that lanes and threads do not matter.
#include "kalman/constant_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "lanes/isa.hpp"
#include "support/gradient_check.hpp"
#include "support/joint_posterior.hpp"

namespace kalmia::kalman {
namespace {

using reference::Matrix;
using reference::Vector;

std::vector<double> by_rows(const Matrix& matrix) {
  std::vector<double> rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) rows.push_back(matrix(i, j));
  return rows;
}
Matrix from_rows(const std::vector<double>& rows, Eigen::Index height) {
  const auto width = static_cast<Eigen::Index>(rows.size()) / height;
  return Eigen::Map<const Matrix>(rows.data(), width, height).transpose();
}

// An autoregression of three lags and a level in one channel, a motion in the other.
struct ConstantCase {
  ConstantSystem system;
  std::vector<MatrixEntry> entries;
  std::vector<std::vector<double>> y;  // of each series, steps x 2

  explicit ConstantCase(int series, std::uint64_t seed = 501) {
    RandomStream random(seed, "constant system");
    Matrix F = Matrix::Zero(6, 6);
    F.row(0).head(3) = Vector{{0.5, -0.2, 0.1}}.transpose();
    F(1, 0) = F(2, 1) = F(3, 3) = F(4, 4) = F(5, 5) = F(4, 5) = 1;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        if (F(i, j) != 0) entries.push_back({i, j});
    const auto covariance = [&](double size) {
      Matrix L = Matrix::Zero(6, 6);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j <= i; ++j)
          L(i, j) = size * (i == j ? 1 + 0.1 * i : 0.2 * random.normal());
      return Matrix(L * L.transpose());
    };
    Matrix H = Matrix::Zero(2, 6);
    H(0, 0) = H(0, 3) = H(1, 4) = 1;
    H(1, 3) = -0.5;
    system = {by_rows(F), by_rows(covariance(0.4)), by_rows(H),
              {0.3, 0.7}, {1, -1, 0.5, 2, 0, 0.1},  by_rows(covariance(3))};
    for (int s = 0; s < series; ++s) {
      std::vector<double>& values = y.emplace_back();
      for (int i = 0; i < 2 * (7 + s % 4 * 3); ++i)
        values.push_back(random.uniform() < 0.2 ? std::nan("") : 2 * random.normal());
    }
  }
  std::vector<MeasuredSteps> series() const {
    std::vector<MeasuredSteps> all;
    for (const std::vector<double>& each : y)
      all.push_back({each.data(), static_cast<int>(each.size()) / 2});
    return all;
  }
  ConstantLikelihood likelihood(ThreadTeam& team) const {
    return ConstantLikelihood(6, 2, entries, series(), team);
  }
  double dense() const {
    reference::DenseSystem s;
    s.F = from_rows(system.F, 6);
    s.e = Vector::Zero(6);
    s.Q = from_rows(system.Q, 6);
    s.H = from_rows(system.H, 2);
    s.R = Vector{{system.R[0], system.R[1]}}.asDiagonal();
    s.initial.mean = Eigen::Map<const Vector>(system.x0.data(), 6);
    s.initial.cov = from_rows(system.P0, 6);
    double nll = 0;
    for (const std::vector<double>& values : y) {
      std::vector<Vector> steps;
      int measured = 0;
      for (std::size_t i = 0; i < values.size(); i += 2) {
        steps.push_back(Vector{{values[i], values[i + 1]}});
        measured += !std::isnan(values[i]) + !std::isnan(values[i + 1]);
      }
      nll -=
          2 * reference::joint_log_likelihood(s, steps) + measured * std::log(2 * std::numbers::pi);
    }
    return nll;
  }
};

TEST(ConstantSystem, LossIsThatOfTheDenseCovariance) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    ThreadTeam team(1);
    for (const int series : {1, 8, 11}) {
      const ConstantCase c(series);
      EXPECT_NEAR(c.likelihood(team)(c.system).nll, c.dense(), 1e-10 * std::abs(c.dense()))
          << series;
    }
  }
  lanes::use_best_isa();
}

TEST(ConstantSystem, GradientMatchesCentralDifferences) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    ConstantCase c(10);
    ThreadTeam team(1);
    ConstantLikelihood likelihood = c.likelihood(team);
    const ConstantLoss loss = likelihood(c.system);
    std::vector<double> free;
    const auto place = [](const MatrixEntry& at) {
      return static_cast<std::size_t>(6 * at.row + at.col);
    };
    for (const MatrixEntry& each : c.entries) free.push_back(c.system.F[place(each)]);
    const auto value = [&] {
      for (std::size_t e = 0; e < free.size(); ++e) c.system.F[place(c.entries[e])] = free[e];
      return likelihood(c.system).nll;
    };
    test::check_gradient(
        value, {{"F", free, loss.d_F}, {"Q", c.system.Q, loss.d_Q, 6}, {"R", c.system.R, loss.d_R}},
        502);
  }
  lanes::use_best_isa();
}

// Each series in a line with others as alone, whoever computes it.
TEST(ConstantSystem, LanesAndThreadsDoNotMatter) {
  const ConstantCase c(19);
  ThreadTeam one(1), three(3);
  const ConstantLoss all = c.likelihood(one)(c.system), shared = c.likelihood(three)(c.system);
  EXPECT_EQ(all.nll, shared.nll);
  EXPECT_EQ(all.d_F, shared.d_F);
  EXPECT_EQ(all.d_Q, shared.d_Q);
  EXPECT_EQ(all.d_R, shared.d_R);
  double sum = 0, d_R = 0;
  for (const MeasuredSteps& each : c.series()) {
    const ConstantLoss alone = ConstantLikelihood(6, 2, c.entries, {&each, 1}, one)(c.system);
    sum += alone.nll;
    d_R += alone.d_R[1];
  }
  EXPECT_NEAR(all.nll, sum, 1e-12 * std::abs(sum));
  EXPECT_NEAR(all.d_R[1], d_R, 1e-11 * std::abs(d_R));
}

TEST(ConstantSystem, WhatIsNoCovarianceHasNoLoss) {
  ConstantCase c(3);
  ThreadTeam team(1);
  ConstantLikelihood likelihood = c.likelihood(team);
  EXPECT_TRUE(std::isfinite(likelihood(c.system).nll));
  c.system.R[0] = -1e3;
  EXPECT_TRUE(std::isnan(likelihood(c.system).nll));
  c = ConstantCase(3);
  c.system.F[0] = 1e200;
  EXPECT_FALSE(std::isfinite(likelihood(c.system).nll));
  EXPECT_TRUE(std::isfinite(likelihood(ConstantCase(3).system).nll));  // nothing stays
}

}  // namespace
}  // namespace kalmia::kalman
