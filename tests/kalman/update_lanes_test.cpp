// The update with an emission per lane against the reference and the shared emission, for every
// instruction set, precision and size, and its adjoint against central differences.
#include <gtest/gtest.h>

#include "kalman/emission.hpp"
#include "kalman/step_kernels.hpp"
#include "kalman/update_lanes_kernels.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/reference.hpp"

namespace kalmia::test {
namespace {

struct UpdateSize {
  int N, M;
};
const UpdateSize kUpdateSizes[] = {{1, 1}, {1, 3}, {2, 1}, {2, 4}, {3, 3}, {5, 2}, {4, 6}, {8, 3}};

// Every input at random, each lane its own. About a third of the components are missing, and hold
// NaN.
template <typename T>
void randomise(UpdateLines<T>& s, RandomStream& random) {
  const int N = s.N, M = s.M;
  for (int b = 0; b < Lines<T>::kLanes; ++b) {
    s.H.set(b, random_matrix(random, M, N));
    s.R.set(b, random_covariance(random, M));
    s.y_pred.set(b, random_matrix(random, M, 1));
    s.x_pred.set(b, random_matrix(random, N, 1));
    s.P_pred.set(b, random_covariance(random, N));
    s.y.set(b, random_matrix(random, M, 1));
    for (int m = 0; m < M; ++m) {
      s.observed.at(m, 0, b) = random.uniform() < 0.35 ? T(0) : T(1);
      if (s.observed.at(m, 0, b) == 0) s.y.at(m, 0, b) = std::numeric_limits<T>::quiet_NaN();
    }
    s.d_nll.set(b, random_matrix(random, 1, 1));
    s.d_x_filt.set(b, random_matrix(random, N, 1));
    s.d_P_filt.set(b, random_symmetric(random, N));
  }
}

// Calls body(s) for each size, with and without missing components, with y_pred given and not.
template <typename T, typename Body>
void for_each_update(const char* name, Body body) {
  for (const UpdateSize size : kUpdateSizes) {
    RandomStream random(41, name, static_cast<std::uint64_t>(10 * size.N + size.M));
    for (const bool masked : {true, false})
      for (const bool linear : {true, false}) {
        SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M) +
                     (masked ? ", masked" : "") + (linear ? ", linear" : ""));
        UpdateLines<T> s(size.N, size.M);
        s.masked = masked;
        s.linear = linear;
        randomise(s, random);
        if (!masked) fill(s.y, [&] { return random_matrix(random, size.M, 1); });
        body(s);
      }
  }
}

template <typename T>
class UpdateLanes : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(UpdateLanes, Precisions);

TYPED_TEST(UpdateLanes, MatchesReference) {
  using T = TypeParam;
  for_each_isa([] {
    for_each_update<T>("forward", [](UpdateLines<T>& s) {
      ASSERT_EQ(update_forward(s), 0u);
      for (int b = 0; b < Lines<T>::kLanes; ++b) {
        Vector offset = Vector::Zero(s.M);
        if (!s.linear) offset = s.y_pred.get(b) - s.H.get(b) * s.x_pred.get(b);
        const reference::Update expected = reference::update(
            {s.x_pred.get(b), s.P_pred.get(b)}, s.y.get(b), s.H.get(b), offset, s.R.get(b));
        const double tolerance = 8 * rounding<T>(s.N * s.M);
        ASSERT_LE(difference(s.x_filt.get(b), expected.filtered.mean), tolerance) << "lane " << b;
        ASSERT_LE(difference(s.P_filt.get(b), expected.filtered.cov), tolerance) << "lane " << b;
        ASSERT_EQ(s.P_filt.get(b), s.P_filt.get(b).transpose());
        ASSERT_LE(difference(s.nll.get(b), Matrix::Constant(1, 1, expected.nll)), tolerance);
      }
    });
  });
}

// The same H and R in all lanes: the shared emission's functions give the same.
TYPED_TEST(UpdateLanes, AgreesWithTheSharedEmission) {
  using T = TypeParam;
  for_each_isa([] {
    for_each_update<T>("shared", [](UpdateLines<T>& s) {
      const int N = s.N, M = s.M;
      s.linear = true;
      const Matrix H = s.H.get(0), R = s.R.get(0);
      fill(s.H, [&] { return H; });
      std::vector<double> H_values, R_values;
      for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) H_values.push_back(H(m, n));
        for (int j = 0; j < M; ++j) R_values.push_back(R(m, j));
      }
      set_noise(s, R_values.data());
      const kalman::Emission emission(N, M, H_values, R_values);
      StepLines<T> shared(N, M);
      const auto copy = [](const Lines<T>& from, Lines<T>& to) {
        std::copy(from.span().begin(), from.span().end(), to.span().begin());
      };
      copy(s.y, shared.y);
      copy(s.observed, shared.observed);
      copy(s.x_pred, shared.x_pred);
      copy(s.P_pred, shared.P_pred);
      copy(s.d_nll, shared.d_nll);
      copy(s.d_x_filt, shared.d_x_new);
      copy(s.d_P_filt, shared.d_P_new);
      ASSERT_EQ(update_forward(s), 0u);
      ASSERT_EQ(update_forward(emission.view(), shared, s.masked), 0u);
      update_backward(s);
      update_backward(emission.view(), shared, s.masked);
      const double tolerance = 8 * rounding<T>(N * M);
      for (int b = 0; b < Lines<T>::kLanes; ++b) {
        ASSERT_LE(difference(s.x_filt.get(b), shared.x_new.get(b)), tolerance);
        ASSERT_LE(difference(s.P_filt.get(b), shared.P_new.get(b)), tolerance);
        ASSERT_LE(difference(s.nll.get(b), shared.nll.get(b)), tolerance);
        ASSERT_LE(difference(s.d_x_pred.get(b), shared.d_x_pred.get(b)), tolerance);
        ASSERT_LE(difference(s.d_P_pred.get(b), shared.d_P_pred.get(b)), tolerance);
        ASSERT_LE(difference(s.d_R.get(b), shared.d_R.get(b)), tolerance);
      }
    });
  });
}

TYPED_TEST(UpdateLanes, ReportsTheLaneThatFailedAndSparesTheOthers) {
  using T = TypeParam;
  for_each_isa([] {
    UpdateLines<T> good(3, 2), bad(3, 2);
    for (UpdateLines<T>* s : {&good, &bad}) {
      RandomStream random(42, "failure");
      s->masked = false;
      randomise(*s, random);
      fill(s->y, [&] { return random_matrix(random, 2, 1); });
    }
    bad.R.set(2, -100 * Matrix::Identity(2, 2));
    ASSERT_EQ(update_forward(good), 0u);
    ASSERT_EQ(update_forward(bad), 0b100u);
    update_backward(good);
    update_backward(bad);
    EXPECT_TRUE(std::isnan(bad.nll.at(0, 0, 2)));
    EXPECT_TRUE(bad.x_filt.get(2).array().isNaN().all());
    EXPECT_TRUE(bad.P_filt.get(2).array().isNaN().all());
    for (int b = 0; b < Lines<T>::kLanes; ++b) {
      if (b == 2) continue;
      EXPECT_EQ(bad.P_filt.get(b), good.P_filt.get(b)) << "lane " << b;
      EXPECT_EQ(bad.d_H.get(b), good.d_H.get(b)) << "lane " << b;
    }
  });
}

void check_adjoint(UpdateLines<double>& s) {
  const auto loss = [&] {
    EXPECT_EQ(update_forward(s), 0u);
    return weighted_sum(s.d_nll.span(), s.nll.span()) +
           weighted_sum(s.d_x_filt.span(), s.x_filt.span()) +
           weighted_sum(s.d_P_filt.span(), s.P_filt.span());
  };
  loss();
  fill(s.d_R, [&] { return Matrix::Zero(s.M, s.M); });
  update_backward(s);
  Lines<double> d_y_pred(s.M, 1);
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    EXPECT_EQ(s.d_P_pred.get(b), s.d_P_pred.get(b).transpose());
    EXPECT_EQ(s.d_R.get(b), s.d_R.get(b).transpose());
    d_y_pred.set(b, -s.d_y.get(b));
  }
  std::vector<GradientVariable> variables = {{"x_pred", s.x_pred.span(), s.d_x_pred.span()},
                                             {"P_pred", s.P_pred.span(), s.d_P_pred.span(), s.N},
                                             {"y", s.y.span(), s.d_y.span()},
                                             {"H", s.H.span(), s.d_H.span()},
                                             {"R", s.R.span(), s.d_R.span(), s.M}};
  if (!s.linear) variables.push_back({"y_pred", s.y_pred.span(), d_y_pred.span()});
  check_gradient(loss, variables, static_cast<std::uint64_t>(s.N));
}

TEST(UpdateLanesAdjoint, MatchesCentralDifferences) {
  for_each_isa([] { for_each_update<double>("adjoint", check_adjoint); });
}

TEST(UpdateLanesAdjoint, AddsToTheAdjointOfR) {
  RandomStream random(43, "added");
  UpdateLines<double> s(3, 2);
  randomise(s, random);
  ASSERT_EQ(update_forward(s), 0u);
  update_backward(s);
  const Matrix once = s.d_R.get(1);
  update_backward(s);
  EXPECT_LE(difference(s.d_R.get(1), 2 * once), 1e-15);
}

// A virtual measurement w = U' x + N(0, I) with U = 0 leaves the estimate alone, to the bit, and
// still tells how the loss would change with U.
TEST(UpdateLanesAdjoint, AZeroMatrixIsNoInformation) {
  for_each_isa([] {
    RandomStream random(44, "zero");
    UpdateLines<double> s(4, 2);
    randomise(s, random);
    fill(s.H, [] { return Matrix::Zero(2, 4); });
    fill(s.d_nll, [] { return Matrix::Zero(1, 1); });
    set_noise(s, nullptr);
    s.masked = false;
    fill(s.y, [&] { return random_matrix(random, 2, 1); });
    s.linear = true;
    ASSERT_EQ(update_forward(s), 0u);
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      EXPECT_EQ(s.x_filt.get(b), s.x_pred.get(b));
      EXPECT_EQ(s.P_filt.get(b), s.P_pred.get(b));
    }
    check_adjoint(s);
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      EXPECT_EQ(s.d_x_pred.get(b), s.d_x_filt.get(b));
      EXPECT_EQ(s.d_y.get(b), Matrix::Zero(2, 1));
      EXPECT_GT(s.d_H.get(b).cwiseAbs().minCoeff(), 0);
    }
  });
}

// A vague prior and a sharp measurement of all states: P_filt = H^-1 R H^-T, whose adjoint in H is
// -2 H^-T d_P_filt P_filt. It is 16 digits smaller than the terms in P_pred, which must not enter.
TEST(UpdateLanesAdjoint, KeepsASmallAdjointAfterALargePrior) {
  for_each_isa([] {
    RandomStream random(45, "vague");
    UpdateLines<double> s(2, 2);
    s.masked = false;
    randomise(s, random);
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      s.H.set(b, Matrix::Identity(2, 2) + 0.2 * random_matrix(random, 2, 2));
      s.P_pred.set(b, 1e8 * random_covariance(random, 2));
      s.R.set(b, 1e-8 * random_covariance(random, 2));
      s.y.set(b, s.y_pred.get(b));
      s.d_nll.set(b, Matrix::Zero(1, 1));
    }
    ASSERT_EQ(update_forward(s), 0u);
    update_backward(s);
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      const Matrix inverse = s.H.get(b).inverse();
      const Matrix expected =
          -2 * inverse.transpose() * s.d_P_filt.get(b) * inverse * s.R.get(b) * inverse.transpose();
      EXPECT_LE(difference(1e8 * s.d_H.get(b), 1e8 * expected), 1e-6) << "lane " << b;
    }
  });
}

}  // namespace
}  // namespace kalmia::test
