#include "infer/calibrated.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "infer/step_factors.hpp"
#include "kalmia/error.hpp"
#include "model/learned_cases.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::VectorXd;

RowMatrix random_covariance(int N, double scale, std::uint64_t seed) {
  RandomStream random(seed, "covariance");
  RowMatrix A(N, N);
  for (int i = 0; i < N * N; ++i) A.data()[i] = scale * random.normal();
  return A * A.transpose() + scale * scale * 0.1 * RowMatrix::Identity(N, N);
}

// The update of a prediction with the measured rows, by the textbook.
struct Update {
  RowMatrix H, R, K, P_filt;
  Update(const model::LearnedModel<float>& model, const double* x, const RowMatrix& P,
         const std::vector<int>& measured) {
    const int N = model.state_dim(), M = model.meas_dim();
    const std::vector<double> all = model.emission_at(x);
    H = Eigen::Map<const RowMatrix>(all.data(), M, N)(measured, Eigen::all);
    R = Eigen::Map<const RowMatrix>(model.emission().R().data(), M, M)(measured, measured);
    K = P * H.transpose() * (H * P * H.transpose() + R).inverse();
    P_filt = (RowMatrix::Identity(N, N) - K * H) * P;
  }
};

// Every channel, one alone, none.
const std::vector<std::vector<int>> kMeasured = {{0, 1}, {1}, {}};

std::vector<double> with_gaps(const std::vector<double>& y, const std::vector<int>& measured) {
  std::vector<double> shown(y.size(), NAN);
  for (const int m : measured) shown[static_cast<std::size_t>(m)] = y[static_cast<std::size_t>(m)];
  return shown;
}

TEST(Calibrated, AScaledPredictionIsUpdatedByTheGainThatWasUsed) {
  const auto model = test::network_case(2, 5).make<float>();
  const int N = model->state_dim();
  const RowMatrix P = random_covariance(N, 30, 6);
  const std::vector<double> x(static_cast<std::size_t>(N), 2.0);
  for (const std::vector<int>& measured : kMeasured) {
    const Update u(*model, x.data(), P, measured);
    std::vector<double> noise(static_cast<std::size_t>(N * N));
    const std::vector<double> y = with_gaps({3, 4}, measured);
    noise_part(*model, x.data(), u.P_filt.data(), {y.data(), nullptr, x.data()}, noise.data());
    for (const double s : {0.2, 1.0, 7.0}) {
      const RowMatrix IKH = RowMatrix::Identity(N, N) - u.K * u.H;
      const RowMatrix expected = s * IKH * P * IKH.transpose() + u.K * u.R * u.K.transpose();
      std::vector<double> found(u.P_filt.data(), u.P_filt.data() + N * N);
      const model::DistanceFactors factors(s);
      StepFactors step(*model, factors);
      step.set(std::vector<double>{1, 1});
      step.scale_states(noise, found);
      for (int i = 0; i < N * N; ++i)
        EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected.data()[i], 1e-9 * expected.norm())
            << measured.size() << " measured, s = " << s;
    }
  }
}

TEST(Calibrated, LeavingAMeasurementOutUndoesItsUpdate) {
  const auto model = test::network_case(2, 5).make<float>();
  const int N = model->state_dim();
  const RowMatrix P = random_covariance(N, 30, 7);
  const VectorXd x = VectorXd::LinSpaced(N, -20, 40);
  const std::vector<double> y = {55, -30};
  for (const std::vector<int>& measured : kMeasured) {
    const Update u(*model, x.data(), P, measured);
    const VectorXd y_all = Eigen::Map<const VectorXd>(y.data(), 2);
    const VectorXd expected_e = VectorXd(y_all(measured)) - u.H * x;
    const RowMatrix expected_W = u.H * P * u.H.transpose();
    const VectorXd z = x + u.K * expected_e;
    std::vector<double> y_pred(2, NAN), W(4, NAN);
    const std::vector<double> shown = with_gaps(y, measured);
    leave_out(*model, z.data(), u.P_filt.data(), {shown.data(), nullptr, x.data()}, y_pred.data(),
              W.data());
    std::vector<double> full(4, 0.0);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const auto m = static_cast<std::size_t>(measured[i]);
      EXPECT_NEAR(y[m] - y_pred[m], expected_e(static_cast<Eigen::Index>(i)), 1e-9);
      for (std::size_t j = 0; j < measured.size(); ++j)
        full[m * 2 + static_cast<std::size_t>(measured[j])] =
            expected_W(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(W[i], full[i], 1e-9 * (1 + full[i])) << i;
    if (measured.empty()) {
      EXPECT_EQ(y_pred, std::vector<double>(2, 0.0));
    }
  }
}

// The noise of an update with weights, and with those of Student's t at the state after it.
TEST(Calibrated, TheNoiseOfAnUpdateIsWeighted) {
  test::LearnedCase made = test::network_case(2, 5);
  const RowMatrix G = random_covariance(4, 3, 7);
  const std::vector<double> z = {3, 1, -2, 0.5}, weight = {4, 0.25}, y = {503, NAN};
  const auto plain = made.make<float>();
  const std::vector<double>& R = plain->emission().R();
  EXPECT_EQ(noise_of_update(*plain, z.data(), G.data(), {y.data(), nullptr, z.data()}), R);
  const std::vector<double> found =
      noise_of_update(*plain, z.data(), G.data(), {y.data(), weight.data(), z.data()});
  EXPECT_NEAR(found[0], R[0] / 4, 1e-12 * R[0]);
  EXPECT_NEAR(found[1], R[1], 1e-12 * R[1]);
  EXPECT_NEAR(found[3], R[3] * 4, 1e-12 * R[3]);
  made.description.tails = 3;
  const auto student = made.make<float>();
  // What is missing keeps its weight.
  const double w = 4 * (3.0 + 1) / (3 + (500.0 * 500 + G(0, 0)) / (R[0] / 4));
  const std::vector<double> robust =
      noise_of_update(*student, z.data(), G.data(), {y.data(), weight.data(), z.data()});
  EXPECT_NEAR(robust[0], R[0] / w, 1e-12 * R[0] / w);
  EXPECT_NEAR(robust[3], R[3] * 4, 1e-12 * R[3]);
  EXPECT_NEAR(robust[1], R[1] / std::sqrt(w * 0.25), 1e-12 * R[1] / std::sqrt(w));
}

// Where H is another than that of the update, H P H' may exceed R.
TEST(Calibrated, NothingBecomesNegativeWhereTheEmissionIsCurved) {
  const auto model = test::pendulum_case().make<float>();
  const RowMatrix P = random_covariance(2, 200, 8);
  const std::vector<double> x = {0.3, -1}, y = {0.2, 0.4};
  const std::vector<double> H = model->emission_at(x.data());
  const Eigen::Map<const RowMatrix> emission(H.data(), 2, 2);
  ASSERT_GT((emission * P * emission.transpose())(0, 0), model->emission().R()[0]);
  RowMatrix noise(2, 2);
  noise_part(*model, x.data(), P.data(), {y.data(), nullptr, x.data()}, noise.data());
  const Eigen::SelfAdjointEigenSolver<RowMatrix> left(P - noise);
  EXPECT_GT(left.eigenvalues().minCoeff(), -1e-9 * P.norm());
  EXPECT_GT(noise.norm(), 0.1 * P.norm());
}

TEST(Calibrated, TheLikelihoodIsThatOfANormalVector) {
  const std::vector<double> S = {4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 2};
  const double log_2_pi = std::log(2 * std::numbers::pi);
  // Components 0 and 2 alone: [4 0.5; 0.5 2], determinant 7.75.
  const double square = (2 * 1.5 * 1.5 - 2 * 0.5 * 1.5 * -1 + 4 * 1) / 7.75;
  EXPECT_NEAR(gaussian_log_likelihood(std::vector<double>{1.5, NAN, -1}, S),
              -0.5 * (square + std::log(7.75) + 2 * log_2_pi), 1e-14);
  EXPECT_EQ(gaussian_log_likelihood(std::vector<double>{NAN, NAN, NAN}, S), 0);
  EXPECT_THROW(gaussian_log_likelihood(std::vector<double>{1}, std::vector<double>{-1}),
               NumericalError);
}

// Columns of a root of C become columns of a root of what it is stretched to.
TEST(Calibrated, StretchingGivesTheOtherCovariance) {
  constexpr int N = 3;
  const RowMatrix unit = VectorXd(Eigen::Vector3d(1, 1e-4, 1e3)).asDiagonal();
  RowMatrix C = unit * random_covariance(N, 1, 9) * unit;
  const RowMatrix to = unit * random_covariance(N, 2, 10) * unit;
  const VectorXd mean = Eigen::Vector3d(5, -6, 7);
  const RowMatrix root = C.llt().matrixL();
  RowMatrix moved(N, N);
  for (int j = 0; j < N; ++j) {
    VectorXd x = mean + root.col(j);
    stretch(N, mean.data(), C.data(), to.data(), x.data());
    moved.col(j) = x - mean;
  }
  const RowMatrix inverse = unit.inverse();
  EXPECT_LT((inverse * (moved * moved.transpose() - to) * inverse).norm(), 1e-8);
  // A state that is known exactly stays.
  C.row(1).setZero();
  C.col(1).setZero();
  const RowMatrix doubled = 4 * C;
  VectorXd x = mean + VectorXd(Eigen::Vector3d(0.5, 0, -20));
  stretch(N, mean.data(), C.data(), doubled.data(), x.data());
  EXPECT_NEAR(x(0) - mean(0), 1, 1e-9);
  EXPECT_EQ(x(1), mean(1));
  EXPECT_NEAR(x(2) - mean(2), -40, 1e-9);
}

}  // namespace
}  // namespace kalmia::infer
