// Cholesky factors and what is solved with them against Eigen, for every instruction set, precision
// and size, and the adjoints against central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/cholesky_test.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "lanes/cholesky_adjoint-inl.h"

#ifndef KALMIA_TEST_CHOLESKY_CALL_
#define KALMIA_TEST_CHOLESKY_CALL_
namespace kalmia::test {
/// One matrix per lane and everything that can be asked of it; all pointers are line matrices.
template <typename T>
struct CholeskyCall {
  int n, cols;
  const T* M;  // n x n
  T* C;        // packed
  T* inv;      // n
  T* log_det;  // 1
  T* W;        // n x n: M^-1
  T* lower;    // n x cols: replaced by C^-1 B
  T* upper;    // n x cols: replaced by C'^-1 B
  T* right;    // cols x n: replaced by B M^-1
  T* scratch;  // n x n
  bool semidefinite = false;
};
/// Adjoints of loss = f(C, lower, upper, log_det) through to M and the right-hand sides.
struct CholeskyBackward {
  int n, cols;
  const double *C, *inv, *lower, *upper, *d_log_det;
  double *d_lower, *d_upper, *d_C, *d_M, *scratch;
};
}  // namespace kalmia::test
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

template <typename T>
lanes::LaneBits run(const CholeskyCall<T>& c) {
  ln::pack_lower(c.n, c.M, c.C);
  const lanes::LaneBits failed = c.semidefinite
                                     ? ln::cholesky<ln::Pivots::Semidefinite>(c.n, c.C, c.inv)
                                     : ln::cholesky(c.n, c.C, c.inv);
  ln::store(ln::log_determinant(c.n, c.C), c.log_det);
  ln::cholesky_inverse(c.n, c.C, c.inv, c.W, c.scratch);
  ln::solve_lower(c.n, c.cols, c.C, c.inv, c.lower);
  ln::solve_upper(c.n, c.cols, c.C, c.inv, c.upper);
  ln::solve_right(c.cols, c.n, c.C, c.inv, c.right);
  return failed;
}
lanes::LaneBits run_float(const CholeskyCall<float>& c) { return run(c); }
lanes::LaneBits run_double(const CholeskyCall<double>& c) { return run(c); }

void run_backward(const CholeskyBackward& c) {
  ln::solve_lower_backward(c.n, c.cols, c.C, c.inv, c.lower, c.d_lower, c.d_C);
  ln::solve_upper_backward(c.n, c.cols, c.C, c.inv, c.upper, c.d_upper, c.d_C);
  ln::log_determinant_backward(c.n, c.inv, c.d_log_det, c.d_C);
  ln::cholesky_backward(c.n, c.C, c.inv, c.d_C, c.d_M, c.scratch);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include "lanes/isa.hpp"
#include "support/gradient_check.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(run_float);
HWY_EXPORT(run_double);
HWY_EXPORT(run_backward);
lanes::LaneBits run(const CholeskyCall<float>& c) { return HWY_DYNAMIC_DISPATCH(run_float)(c); }
lanes::LaneBits run(const CholeskyCall<double>& c) { return HWY_DYNAMIC_DISPATCH(run_double)(c); }

const int kSizes[] = {1, 2, 3, 4, 5, 6, 8, 16, 32, 128};

// A case with its storage.
template <typename T>
struct Case {
  Case(int n_, int cols_)
      : n(n_),
        cols(cols_),
        M(n, n),
        C(n),
        inv(n, 1),
        log_det(1, 1),
        W(n, n),
        B(n, cols),
        lower(n, cols),
        upper(n, cols),
        right(cols, n),
        scratch(n, n) {
    RandomStream random(21, "cholesky", static_cast<std::uint64_t>(n));
    fill(M, [&] { return random_covariance(random, n); });
    fill(B, [&] { return random_matrix(random, n, cols); });
  }
  lanes::LaneBits evaluate(bool semidefinite = false) {
    for (int b = 0; b < M.kLanes; ++b) {
      lower.set(b, B.get(b));
      upper.set(b, B.get(b));
      right.set(b, B.get(b).transpose());
    }
    return run(CholeskyCall<T>{n, cols, M.data(), C.data(), inv.data(), log_det.data(), W.data(),
                               lower.data(), upper.data(), right.data(), scratch.data(),
                               semidefinite});
  }
  int n, cols;
  Lines<T> M;
  TriangleLines<T> C;
  Lines<T> inv, log_det, W, B, lower, upper, right, scratch;
};

template <typename T>
class Cholesky : public testing::Test {
 protected:
  void TearDown() override { lanes::use_best_isa(); }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Cholesky, Precisions);

TYPED_TEST(Cholesky, MatchesEigen) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    SCOPED_TRACE(lanes::isa_name(isa));
    for (const int n : kSizes) {
      SCOPED_TRACE(n);
      Case<TypeParam> c(n, 5);
      ASSERT_EQ(c.evaluate(), 0u);
      const double tolerance = rounding<TypeParam>(n * n);
      for (int b = 0; b < c.M.kLanes; ++b) {
        const Matrix M = c.M.get(b);
        const Matrix B = c.B.get(b);
        const Matrix C = Eigen::LLT<Matrix>(M).matrixL();
        ASSERT_LE(difference(c.C.get_lower(b), C), tolerance) << "lane " << b;
        ASSERT_LE(difference(c.W.get(b), M.inverse()), tolerance) << "lane " << b;
        ASSERT_EQ(c.W.get(b), c.W.get(b).transpose());
        ASSERT_LE(difference(c.lower.get(b), C.triangularView<Eigen::Lower>().solve(B)), tolerance);
        ASSERT_LE(difference(c.upper.get(b), C.transpose().triangularView<Eigen::Upper>().solve(B)),
                  tolerance);
        ASSERT_LE(difference(c.right.get(b), B.transpose() * M.inverse()), tolerance);
        const double log_det = 2 * C.diagonal().array().log().sum();
        ASSERT_LE(std::abs(static_cast<double>(c.log_det.at(0, 0, b)) - log_det),
                  tolerance * std::max(1.0, std::abs(log_det)));
      }
    }
  }
}

// An indefinite lane, a NaN lane and an infinite lane are reported; their neighbours keep the very
// bits they have without them.
TYPED_TEST(Cholesky, ReportsTheLanesThatFailedAndSparesTheOthers) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int n : {1, 3, 6, 16}) {
      Case<TypeParam> good(n, 2);
      ASSERT_EQ(good.evaluate(), 0u);
      Case<TypeParam> bad(n, 2);
      bad.M.at(n - 1, n - 1, 1) = -1;
      bad.M.at(n / 2, n / 2, 3) = std::numeric_limits<TypeParam>::quiet_NaN();
      bad.M.at(0, 0, 6) = std::numeric_limits<TypeParam>::infinity();
      ASSERT_EQ(bad.evaluate(), 0b1001010u) << lanes::isa_name(isa) << " n " << n;
      for (int b = 0; b < good.M.kLanes; ++b) {
        if (b == 1 || b == 3 || b == 6) {
          EXPECT_TRUE(std::isnan(bad.log_det.at(0, 0, b)));
          EXPECT_TRUE(std::isnan(bad.upper.at(0, 0, b)));
          EXPECT_TRUE(std::isnan(bad.right.at(0, 0, b)));
          continue;
        }
        EXPECT_EQ(bad.C.get_lower(b), good.C.get_lower(b));
        EXPECT_EQ(bad.log_det.get(b), good.log_det.get(b));
        EXPECT_EQ(bad.right.get(b), good.right.get(b));
      }
    }
  }
}

// A singular M of rank r: B M^+ solves X M = B for B in M's range; an indefinite one still fails.
TYPED_TEST(Cholesky, SemidefiniteSolvesInTheRangeOfASingularMatrix) {
  using T = TypeParam;
  const int n = 6, rank = 3;
  Case<T> c(n, 2);
  RandomStream random(22, "singular");
  for (int b = 0; b < c.M.kLanes; ++b) {
    const Matrix A = random_matrix(random, n, rank);
    c.M.set(b, A * A.transpose());
    c.B.set(b, c.M.get(b) * random_matrix(random, n, 2));
  }
  c.M.set(2, Matrix::Zero(n, n));
  c.B.set(2, Matrix::Zero(n, 2));
  c.M.set(4, -Matrix::Identity(n, n));
  EXPECT_EQ(c.evaluate(true), 0b10000u);
  for (int b = 0; b < c.M.kLanes; ++b) {
    if (b == 4) continue;
    EXPECT_LE(difference(c.right.get(b) * c.M.get(b), c.B.get(b).transpose()), 300 * rounding<T>(n))
        << "lane " << b;
  }
}

TEST(CholeskyAdjoint, MatchesCentralDifferences) {
  for (const int n : {1, 2, 3, 6}) {
    const int cols = 3;
    Case<double> c(n, cols);
    RandomStream random(23, "weights", static_cast<std::uint64_t>(n));
    Lines<double> w_lower(n, cols), w_upper(n, cols), w_log(1, 1), d_lower(n, cols),
        d_upper(n, cols), d_M(n, n), d_B(n, cols);
    TriangleLines<double> w_C(n), d_C(n);
    fill(w_lower, [&] { return random_matrix(random, n, cols); });
    fill(w_upper, [&] { return random_matrix(random, n, cols); });
    fill(w_log, [&] { return random_matrix(random, 1, 1); });
    for (int b = 0; b < c.M.kLanes; ++b) {
      w_C.set_lower(b, random_lower(random, n));
      d_lower.set(b, w_lower.get(b));
      d_upper.set(b, w_upper.get(b));
      d_C.set_lower(b, w_C.get_lower(b));
    }
    const auto loss = [&] {
      EXPECT_EQ(c.evaluate(), 0u);
      return weighted_sum(w_lower.span(), c.lower.span()) +
             weighted_sum(w_upper.span(), c.upper.span()) +
             weighted_sum(w_log.span(), c.log_det.span()) + weighted_sum(w_C.span(), c.C.span());
    };
    loss();
    HWY_DYNAMIC_DISPATCH(run_backward)
    (CholeskyBackward{n, cols, c.C.data(), c.inv.data(), c.lower.data(), c.upper.data(),
                      w_log.data(), d_lower.data(), d_upper.data(), d_C.data(), d_M.data(),
                      c.scratch.data()});
    for (int b = 0; b < c.M.kLanes; ++b) d_B.set(b, d_lower.get(b) + d_upper.get(b));
    check_gradient(loss, {{"M", c.M.span(), d_M.span(), n}, {"B", c.B.span(), d_B.span()}},
                   static_cast<std::uint64_t>(n));
  }
}

}  // namespace
}  // namespace kalmia::test
#endif  // HWY_ONCE
