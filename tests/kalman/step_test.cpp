// The kernels of one step against the reference, for every instruction set, precision and size,
// and their adjoints against central differences.
#include <gtest/gtest.h>

#include "kalman/emission.hpp"
#include "kalman/step_kernels.hpp"
#include "lanes/isa.hpp"
#include "support/gradient_check.hpp"
#include "support/reference.hpp"

namespace kalmia::test {
namespace {

struct StepSize {
  int N, M;
};
const StepSize kStepSizes[] = {{1, 1}, {2, 1}, {2, 2}, {3, 1},  {3, 3},  {4, 2},
                               {5, 3}, {6, 2}, {8, 6}, {16, 3}, {32, 6}, {128, 2}};

std::vector<double> row_major(const Matrix& matrix) {
  std::vector<double> values;
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j) values.push_back(matrix(i, j));
  return values;
}

// A random emission: odd sizes get a selection of states, even ones a dense H.
kalman::Emission random_emission(int N, int M, RandomStream& random) {
  Matrix H = random_matrix(random, M, N);
  if (N % 2 == 1) {
    H.setZero();
    for (int m = 0; m < M; ++m) H(m, N - 1 - m) = 1;
  }
  return {N, M, row_major(H), row_major(random_covariance(random, M))};
}
Matrix matrix_of(const std::vector<double>& values, int rows, int cols) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      values.data(), rows, cols);
}

// Every input at random, each lane its own. About a third of the components are missing, and hold
// NaN.
template <typename T>
void randomise(StepLines<T>& s, RandomStream& random) {
  const int N = s.N, M = s.M;
  for (int b = 0; b < s.F.kLanes; ++b) {
    s.F.set(b, random_matrix(random, N, N) / std::sqrt(static_cast<double>(N)));
    s.e.set(b, random_matrix(random, N, 1));
    s.Q.set(b, random_covariance(random, N));
    s.x_filt.set(b, random_matrix(random, N, 1));
    s.P_filt.set(b, random_covariance(random, N));
    s.x_pred.set(b, random_matrix(random, N, 1));
    s.P_pred.set(b, random_covariance(random, N));
    s.y.set(b, random_matrix(random, M, 1));
    for (int m = 0; m < M; ++m) {
      s.observed.at(m, 0, b) = random.uniform() < 0.35 ? T(0) : T(1);
      if (s.observed.at(m, 0, b) == 0) s.y.at(m, 0, b) = std::numeric_limits<T>::quiet_NaN();
    }
    s.d_x_pred.set(b, random_matrix(random, N, 1));
    s.d_P_pred.set(b, random_symmetric(random, N));
    s.d_nll.set(b, random_matrix(random, 1, 1));
    s.d_x_new.set(b, random_matrix(random, N, 1));
    s.d_P_new.set(b, random_symmetric(random, N));
    s.x_smooth.set(b, random_matrix(random, N, 1));
    s.P_smooth.set(b, 0.5 * random_covariance(random, N));
  }
}

template <typename T>
class Step : public testing::Test {
 protected:
  void TearDown() override { lanes::use_best_isa(); }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Step, Precisions);

// Calls body(N, M) for each instruction set and size.
template <typename Body>
void for_each_case(Body body) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const StepSize size : kStepSizes) {
      SCOPED_TRACE(std::string(lanes::isa_name(isa)) + ", N = " + std::to_string(size.N) +
                   ", M = " + std::to_string(size.M));
      body(size.N, size.M);
    }
  }
}

TYPED_TEST(Step, PredictMatchesReference) {
  for_each_case([](int N, int M) {
    RandomStream random(31, "predict", static_cast<std::uint64_t>(N));
    StepLines<TypeParam> s(N, M);
    randomise(s, random);
    for (const bool with_F : {true, false}) {
      predict_forward(s, with_F);
      for (int b = 0; b < s.F.kLanes; ++b) {
        const Matrix F = with_F ? s.F.get(b) : Matrix::Zero(N, N);
        const reference::Gaussian expected =
            reference::predict({s.x_filt.get(b), s.P_filt.get(b)}, F, s.e.get(b), s.Q.get(b));
        ASSERT_LE(difference(s.x_pred.get(b), expected.mean), rounding<TypeParam>(N));
        ASSERT_LE(difference(s.P_pred.get(b), expected.cov), rounding<TypeParam>(N * N));
        ASSERT_EQ(s.P_pred.get(b), s.P_pred.get(b).transpose());
      }
    }
  });
}

TYPED_TEST(Step, UpdateMatchesReferenceWithAndWithoutMissingComponents) {
  using T = TypeParam;
  for_each_case([](int N, int M) {
    RandomStream random(32, "update", static_cast<std::uint64_t>(N));
    const kalman::Emission emission = random_emission(N, M, random);
    const Matrix H = matrix_of(emission.H(), M, N), R = matrix_of(emission.R(), M, M);
    StepLines<T> s(N, M);
    randomise(s, random);
    for (const bool masked : {true, false}) {
      if (!masked) fill(s.y, [&] { return random_matrix(random, M, 1); });
      ASSERT_EQ(update_forward(emission.view(), s, masked), 0u);
      for (int b = 0; b < s.F.kLanes; ++b) {
        const reference::Update expected =
            reference::update({s.x_pred.get(b), s.P_pred.get(b)}, s.y.get(b), H, R);
        const double tolerance = 4 * rounding<T>(N * M);
        ASSERT_LE(difference(s.x_new.get(b), expected.filtered.mean), tolerance) << "lane " << b;
        ASSERT_LE(difference(s.P_new.get(b), expected.filtered.cov), tolerance) << "lane " << b;
        ASSERT_EQ(s.P_new.get(b), s.P_new.get(b).transpose());
        ASSERT_LE(difference(s.nll.get(b), Matrix::Constant(1, 1, expected.nll)), tolerance);
      }
    }
  });
}

TYPED_TEST(Step, UpdateReportsTheLaneThatFailedAndSparesTheOthers) {
  using T = TypeParam;
  RandomStream random(33, "failure");
  const kalman::Emission emission = random_emission(3, 2, random);
  StepLines<T> good(3, 2);
  randomise(good, random);
  StepLines<T> bad(3, 2);
  RandomStream again(33, "failure");
  random_emission(3, 2, again);
  randomise(bad, again);
  fill(good.observed, [] { return Matrix::Ones(2, 1); });
  fill(bad.observed, [] { return Matrix::Ones(2, 1); });
  bad.P_pred.set(2, -10 * Matrix::Identity(3, 3));
  ASSERT_EQ(update_forward(emission.view(), good, true), 0u);
  ASSERT_EQ(update_forward(emission.view(), bad, true), 0b100u);
  EXPECT_TRUE(std::isnan(bad.nll.at(0, 0, 2)));
  for (int b = 0; b < good.F.kLanes; ++b) {
    if (b == 2) continue;
    EXPECT_EQ(bad.P_new.get(b), good.P_new.get(b)) << "lane " << b;
  }
}

// A vague prior and a sharp measurement: the posterior variance, R to 16 digits, is lost in the
// rounding of P - K G'.
TEST(StepAccuracy, UpdateKeepsASmallVarianceAfterALargeOne) {
  const kalman::Emission emission(3, 2, {1, 0, 0, 0, 1, 0}, {1e-8, 0, 0, 4e-8});
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    StepLines<double> s(3, 2);
    for (int b = 0; b < s.F.kLanes; ++b)
      s.P_pred.set(b, Matrix{{1e8 + b, 3e7, 1e3}, {3e7, 2e8, 2e3}, {1e3, 2e3, 1}});
    ASSERT_EQ(update_forward(emission.view(), s, false), 0u);
    for (int b = 0; b < s.F.kLanes; ++b) {
      EXPECT_NEAR(s.P_new.at(0, 0, b), 1e-8, 1e-14) << lanes::isa_name(isa);
      EXPECT_NEAR(s.P_new.at(1, 1, b), 4e-8, 4e-14) << lanes::isa_name(isa);
    }
  }
  lanes::use_best_isa();
}

TYPED_TEST(Step, SmootherStepMatchesReference) {
  using T = TypeParam;
  for_each_case([](int N, int M) {
    RandomStream random(34, "rts", static_cast<std::uint64_t>(N));
    StepLines<T> s(N, M);
    randomise(s, random);
    predict_forward(s, true);
    ASSERT_EQ(rts_step(s), 0u);
    for (int b = 0; b < s.F.kLanes; ++b) {
      reference::Run run;
      run.steps.resize(2);
      run.steps[1].F = s.F.get(b);
      run.predicted = {{}, {s.x_pred.get(b), s.P_pred.get(b)}};
      run.filtered = {{s.x_filt.get(b), s.P_filt.get(b)}, {s.x_smooth.get(b), s.P_smooth.get(b)}};
      reference::smooth(run);
      const double tolerance = 8 * rounding<T>(N * N);
      ASSERT_LE(difference(s.x_out.get(b), run.smoothed[0].mean), tolerance) << "lane " << b;
      ASSERT_LE(difference(s.P_out.get(b), run.smoothed[0].cov), tolerance) << "lane " << b;
      ASSERT_EQ(s.P_out.get(b), s.P_out.get(b).transpose());
    }
  });
}

// The smallest eigenvalue of D^-1/2 P D^-1/2, D = diag P: how far rounding has made a covariance
// indefinite, whatever the units of its states.
double least_correlation_eigenvalue(const Matrix& P) {
  const Matrix scale = P.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  return Eigen::SelfAdjointEigenSolver<Matrix>(scale * P * scale).eigenvalues().minCoeff();
}

// A motion with constant acceleration over steps of any length, measured as sharply as you like:
// P - K G' and Joseph's form were indefinite here.
TEST(StepAccuracy, CovariancesStayDefiniteOverLongStepsAndSharpMeasurements) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const double h : {1.0, 20.0, 500.0, 1e4, 1e6})
      for (const double noise : {1e-12, 1e-6, 1.0, 1e6, 1e12}) {
        SCOPED_TRACE(std::string(lanes::isa_name(isa)) + ", step " + std::to_string(h) +
                     ", noise " + std::to_string(noise));
        const kalman::Emission emission(3, 1, {1, 0, 0}, {noise});
        StepLines<double> s(3, 1);
        for (int b = 0; b < s.F.kLanes; ++b) {
          s.F.set(b, Matrix{{1, h, h * h / 2}, {0, 1, h}, {0, 0, 1}});
          s.Q.set(b, Matrix{{std::pow(h, 5) / 20, std::pow(h, 4) / 8, std::pow(h, 3) / 6},
                            {std::pow(h, 4) / 8, std::pow(h, 3) / 3, h * h / 2},
                            {std::pow(h, 3) / 6, h * h / 2, h}});
          s.P_filt.set(b, Matrix::Identity(3, 3));
        }
        for (int k = 0; k < 4; ++k) {
          predict_forward(s, true);
          ASSERT_EQ(update_forward(emission.view(), s, false), 0u);
          for (int b = 0; b < s.F.kLanes; ++b) s.P_smooth.set(b, s.P_new.get(b));
          ASSERT_EQ(rts_step(s), 0u);
          for (int b = 0; b < s.F.kLanes; ++b)
            for (const Matrix& P : {s.P_pred.get(b), s.P_new.get(b), s.P_out.get(b)}) {
              ASSERT_GT(P.diagonal().minCoeff(), 0);
              ASSERT_GE(least_correlation_eigenvalue(P), -3e-14);
            }
          // What was measured is known at least as well as by the measurement alone.
          ASSERT_LE(s.P_new.at(0, 0, 0), noise * (1 + 1e-6));
          for (int b = 0; b < s.F.kLanes; ++b) s.P_filt.set(b, s.P_new.get(b));
        }
      }
  }
  lanes::use_best_isa();
}

// Runs `body` with each instruction set.
template <typename Body>
void on_every_isa(Body body) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    SCOPED_TRACE(lanes::isa_name(isa));
    body();
  }
  lanes::use_best_isa();
}

void check_predict_adjoint() {
  for (const int N : {1, 2, 3, 6}) {
    RandomStream random(35, "adjoint", static_cast<std::uint64_t>(N));
    StepLines<double> s(N, 1);
    randomise(s, random);
    for (const bool with_F : {true, false}) {
      predict_backward(s, with_F);
      const auto loss = [&] {
        predict_forward(s, with_F);
        return weighted_sum(s.d_x_pred.span(), s.x_pred.span()) +
               weighted_sum(s.d_P_pred.span(), s.P_pred.span());
      };
      std::vector<GradientVariable> variables = {{"Q", s.Q.span(), s.d_P_pred.span(), N},
                                                 {"e", s.e.span(), s.d_x_pred.span()},
                                                 {"x_filt", s.x_filt.span(), s.d_x_filt.span()},
                                                 {"P_filt", s.P_filt.span(), s.d_P_filt.span(), N}};
      if (with_F) variables.push_back({"F", s.F.span(), s.d_F.span()});
      check_gradient(loss, variables, static_cast<std::uint64_t>(N));
    }
  }
}

TEST(StepAdjoint, PredictMatchesCentralDifferences) { on_every_isa(check_predict_adjoint); }

// The adjoint of R is checked through a perturbed Emission, the same in all lanes.
void check_update_adjoint() {
  for (const StepSize size :
       {StepSize{1, 1}, StepSize{2, 1}, StepSize{3, 3}, StepSize{6, 2}, StepSize{5, 4}}) {
    const int N = size.N, M = size.M;
    RandomStream random(36, "adjoint", static_cast<std::uint64_t>(N));
    kalman::Emission emission = random_emission(N, M, random);
    std::vector<double> R = emission.R();
    StepLines<double> s(N, M);
    randomise(s, random);
    for (const bool masked : {true, false}) {
      SCOPED_TRACE("N = " + std::to_string(N) + (masked ? ", masked" : ", all observed"));
      if (!masked) fill(s.y, [&] { return random_matrix(random, M, 1); });
      const auto loss = [&] {
        emission.set_R(R);
        EXPECT_EQ(update_forward(emission.view(), s, masked), 0u);
        return weighted_sum(s.d_nll.span(), s.nll.span()) +
               weighted_sum(s.d_x_new.span(), s.x_new.span()) +
               weighted_sum(s.d_P_new.span(), s.P_new.span());
      };
      loss();
      std::fill(s.d_R.span().begin(), s.d_R.span().end(), 0.0);
      update_backward(emission.view(), s, masked);
      Matrix d_R = Matrix::Zero(M, M);
      for (int b = 0; b < s.F.kLanes; ++b) {
        d_R += s.d_R.get(b);
        EXPECT_EQ(s.d_P_pred.get(b), s.d_P_pred.get(b).transpose());
      }
      const std::vector<double> gradient_R = row_major(d_R);
      check_gradient(loss,
                     {{"x_pred", s.x_pred.span(), s.d_x_pred.span()},
                      {"P_pred", s.P_pred.span(), s.d_P_pred.span(), N},
                      {"R", R, gradient_R, M}},
                     static_cast<std::uint64_t>(N));
    }
  }
}

TEST(StepAdjoint, UpdateMatchesCentralDifferences) { on_every_isa(check_update_adjoint); }

}  // namespace
}  // namespace kalmia::test
