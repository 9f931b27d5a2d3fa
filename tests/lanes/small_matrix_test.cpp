// Products of line matrices against Eigen, for every instruction set, precision and size, and
// their adjoints against central differences.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/small_matrix_test.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "lanes/triangle-inl.h"

#ifndef KALMIA_TEST_SMALL_MATRIX_CALL_
#define KALMIA_TEST_SMALL_MATRIX_CALL_
namespace kalmia::test {
// Which operation, its sizes, inputs and outputs.
enum class Op {
  Multiply,
  MultiplyNt,
  MultiplyTn,
  SymmetricNt,
  SymmetricTn,
  Symmetric,
  Vec,
  VecT,
  Outer,
  Gram,
  GramBackward,
  Sandwich,
  SandwichBackward,
  MultiplyBackward
};
template <typename T>
struct Call {
  Op op;
  lanes::Put put;
  int rows, count, cols;
  const T* in[3];
  T* out[3];
};
}  // namespace kalmia::test
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::Put;

template <Put put, typename T>
void run(const Call<T>& c) {
  const T* const* in = c.in;
  T* const* out = c.out;
  switch (c.op) {
    case Op::Multiply:
      return ln::multiply<put>(c.rows, c.count, c.cols, in[0], in[1], out[0]);
    case Op::MultiplyNt:
      return ln::multiply_nt<put>(c.rows, c.count, c.cols, in[0], in[1], out[0]);
    case Op::MultiplyTn:
      return ln::multiply_tn<put>(c.rows, c.count, c.cols, in[0], in[1], out[0]);
    case Op::Symmetric:
      return ln::multiply_symmetric<put>(c.rows, c.count, in[0], in[1], out[0]);
    case Op::SymmetricNt:
      return ln::multiply_nt_symmetric<put>(c.rows, c.count, in[0], in[1], out[0]);
    case Op::SymmetricTn:
      return ln::multiply_tn_symmetric<put>(c.rows, c.count, in[0], in[1], out[0]);
    case Op::Vec:
      return ln::multiply_vec<put>(c.rows, c.count, in[0], in[1], out[0]);
    case Op::VecT:
      return ln::multiply_vec_t<put>(c.rows, c.count, in[0], in[1], out[0]);
    case Op::Outer:
      return ln::outer<put>(c.rows, c.cols, in[0], in[1], out[0]);
    case Op::Gram:
      return ln::gram_lower<put>(c.rows, in[0], out[0]);
    case Op::GramBackward:
      return ln::gram_lower_backward<put>(c.rows, in[0], in[1], out[0]);
    case Op::Sandwich:
      return ln::sandwich(c.rows, in[0], in[1], in[2], out[0], out[1]);
    case Op::SandwichBackward:
      return ln::sandwich_backward(c.rows, in[0], in[1], in[2], out[0], out[1], out[2]);
    case Op::MultiplyBackward:
      return ln::multiply_backward(c.rows, c.count, c.cols, in[0], in[1], in[2], out[0], out[1]);
  }
}
template <typename T>
void run_put(const Call<T>& c) {
  if (c.put == Put::Set) return run<Put::Set>(c);
  if (c.put == Put::Add) return run<Put::Add>(c);
  run<Put::Sub>(c);
}
void run_float(const Call<float>& c) { run_put(c); }
void run_double(const Call<double>& c) { run_put(c); }

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
void run(const Call<float>& c) { HWY_DYNAMIC_DISPATCH(run_float)(c); }
void run(const Call<double>& c) { HWY_DYNAMIC_DISPATCH(run_double)(c); }

const int kSizes[] = {1, 2, 3, 4, 5, 6, 8, 16, 32, 128};

template <typename T>
class SmallMatrix : public testing::Test {
 protected:
  void TearDown() override { lanes::use_best_isa(); }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallMatrix, Precisions);

double sign_of(lanes::Put put) { return put == lanes::Put::Sub ? -1 : 1; }

// One product of each kind, for one size, against Eigen.
template <typename T>
void compare_products(int rows, int count, int cols, lanes::Put put) {
  RandomStream random(11, "products", static_cast<std::uint64_t>(rows * 1000 + cols));
  Lines<T> A(rows, count), At(count, rows), B(count, cols), Bt(cols, count), before(rows, cols);
  fill(A, [&] { return random_matrix(random, rows, count); });
  fill(B, [&] { return random_matrix(random, count, cols); });
  fill(before, [&] { return random_matrix(random, rows, cols); });
  for (int b = 0; b < A.kLanes; ++b) {
    At.set(b, A.get(b).transpose());
    Bt.set(b, B.get(b).transpose());
  }
  const auto compare = [&](Op op, const Lines<T>& left, const Lines<T>& right) {
    Lines<T> C(rows, cols);
    std::copy(before.span().begin(), before.span().end(), C.span().begin());
    run(Call<T>{op, put, rows, count, cols, {left.data(), right.data(), nullptr}, {C.data()}});
    for (int b = 0; b < A.kLanes; ++b) {
      Matrix expected = sign_of(put) * A.get(b) * B.get(b);
      if (put != lanes::Put::Set) expected += before.get(b);
      ASSERT_LE(difference(C.get(b), expected), rounding<T>(count))
          << "op " << static_cast<int>(op) << " size " << rows << "x" << count << "x" << cols
          << " lane " << b;
    }
  };
  compare(Op::Multiply, A, B);
  compare(Op::MultiplyNt, A, Bt);
  compare(Op::MultiplyTn, At, B);
  if (cols == 1) compare(Op::Vec, A, B);
  if (count == 1) compare(Op::Outer, A, B);
}

TYPED_TEST(SmallMatrix, ProductsMatchEigen) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    SCOPED_TRACE(lanes::isa_name(isa));
    for (const int n : kSizes) compare_products<TypeParam>(n, n, n, lanes::Put::Set);
    for (const lanes::Put put : {lanes::Put::Set, lanes::Put::Add, lanes::Put::Sub})
      for (const int rows : {1, 2, 3, 4, 5, 7})
        for (const int cols : {1, 2, 3, 4, 6})
          for (const int count : {1, 2, 5}) compare_products<TypeParam>(rows, count, cols, put);
  }
}

TYPED_TEST(SmallMatrix, VectorProductsMatchEigen) {
  using T = TypeParam;
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    SCOPED_TRACE(lanes::isa_name(isa));
    RandomStream random(12, "vectors");
    for (const int n : kSizes) {
      Lines<T> A(n, 3), x(3, 1), u(n, 1), y(n, 1), z(3, 1);
      fill(A, [&] { return random_matrix(random, n, 3); });
      fill(x, [&] { return random_matrix(random, 3, 1); });
      fill(u, [&] { return random_matrix(random, n, 1); });
      run(Call<T>{Op::Vec, lanes::Put::Set, n, 3, 1, {A.data(), x.data()}, {y.data()}});
      run(Call<T>{Op::VecT, lanes::Put::Set, n, 3, 1, {A.data(), u.data()}, {z.data()}});
      for (int b = 0; b < A.kLanes; ++b) {
        ASSERT_LE(difference(y.get(b), A.get(b) * x.get(b)), rounding<T>(3));
        ASSERT_LE(difference(z.get(b), A.get(b).transpose() * u.get(b)), rounding<T>(n));
      }
    }
  }
}

// The symmetric forms must give Eigen's result, with the same bits in both triangles.
TYPED_TEST(SmallMatrix, SymmetricFormsMatchEigenAndAreExactlySymmetric) {
  using T = TypeParam;
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    SCOPED_TRACE(lanes::isa_name(isa));
    for (const int n : kSizes) {
      RandomStream random(13, "symmetric", static_cast<std::uint64_t>(n));
      Lines<T> F(n, n), FP(n, n), P(n, n), Q(n, n), out(n, n), scratch(n, n), transposed(n, n);
      TriangleLines<T> L(n);
      fill(F, [&] { return random_matrix(random, n, n); });
      fill(P, [&] { return random_covariance(random, n); });
      fill(Q, [&] { return random_covariance(random, n); });
      for (int b = 0; b < F.kLanes; ++b) {
        L.set_lower(b, random_lower(random, n));
        FP.set(b, F.get(b) * P.get(b));
        transposed.set(b, FP.get(b).transpose());
      }
      const auto expect = [&](const char* what, auto expected) {
        for (int b = 0; b < F.kLanes; ++b) {
          ASSERT_LE(difference(out.get(b), expected(b)), rounding<T>(n * n))
              << what << " n " << n << " lane " << b;
          ASSERT_EQ(out.get(b), out.get(b).transpose()) << what << " n " << n;
        }
      };
      const auto fpf = [&](int b) -> Matrix { return F.get(b) * P.get(b) * F.get(b).transpose(); };
      run(Call<T>{Op::SymmetricNt, lanes::Put::Set, n, n, n, {FP.data(), F.data()}, {out.data()}});
      expect("A B'", fpf);
      Lines<T> Ft(n, n);
      for (int b = 0; b < F.kLanes; ++b) Ft.set(b, F.get(b).transpose());
      run(Call<T>{Op::Symmetric, lanes::Put::Set, n, n, n, {FP.data(), Ft.data()}, {out.data()}});
      expect("A B", fpf);
      run(Call<T>{
          Op::SymmetricTn, lanes::Put::Set, n, n, n, {transposed.data(), Ft.data()}, {out.data()}});
      expect("A' B", fpf);
      run(Call<T>{Op::Sandwich,
                  lanes::Put::Set,
                  n,
                  n,
                  n,
                  {F.data(), P.data(), Q.data()},
                  {out.data(), scratch.data()}});
      expect("sandwich", [&](int b) -> Matrix { return fpf(b) + Q.get(b); });
      const auto gram = [&](int b) -> Matrix {
        return L.get_lower(b) * L.get_lower(b).transpose();
      };
      run(Call<T>{Op::Gram, lanes::Put::Set, n, n, n, {L.data()}, {out.data()}});
      expect("gram", gram);
      for (int b = 0; b < F.kLanes; ++b) out.set(b, Q.get(b));
      run(Call<T>{Op::Gram, lanes::Put::Add, n, n, n, {L.data()}, {out.data()}});
      expect("gram +=", [&](int b) -> Matrix { return Q.get(b) + gram(b); });
      TriangleLines<T> d_L(n);
      run(Call<T>{Op::GramBackward, lanes::Put::Set, n, n, n, {L.data(), P.data()}, {d_L.data()}});
      for (int b = 0; b < F.kLanes; ++b) {
        const Matrix expected =
            (2 * P.get(b) * L.get_lower(b)).template triangularView<Eigen::Lower>();
        ASSERT_LE(difference(d_L.get_lower(b), expected), rounding<T>(n)) << "gram adjoint " << n;
      }
    }
  }
}

TEST(SmallMatrixAdjoint, ProductMatchesCentralDifferences) {
  RandomStream random(14, "adjoint");
  const int rows = 3, count = 5, cols = 2;
  Lines<double> A(rows, count), B(count, cols), C(rows, cols), weights(rows, cols);
  Lines<double> d_A(rows, count), d_B(count, cols);
  fill(A, [&] { return random_matrix(random, rows, count); });
  fill(B, [&] { return random_matrix(random, count, cols); });
  fill(weights, [&] { return random_matrix(random, rows, cols); });
  run(Call<double>{Op::MultiplyBackward,
                   lanes::Put::Set,
                   rows,
                   count,
                   cols,
                   {A.data(), B.data(), weights.data()},
                   {d_A.data(), d_B.data()}});
  check_gradient(
      [&] {
        run(Call<double>{
            Op::Multiply, lanes::Put::Set, rows, count, cols, {A.data(), B.data()}, {C.data()}});
        return weighted_sum(weights.span(), C.span());
      },
      {{"A", A.span(), d_A.span()}, {"B", B.span(), d_B.span()}}, 1);
}

TEST(SmallMatrixAdjoint, SandwichAndGramMatchCentralDifferences) {
  for (const int n : {1, 2, 3, 6}) {
    RandomStream random(15, "adjoint", static_cast<std::uint64_t>(n));
    Lines<double> F(n, n), P(n, n), Q(n, n), out(n, n), scratch(n, n), weights(n, n);
    Lines<double> d_F(n, n), d_P(n, n);
    TriangleLines<double> L(n), d_L(n);
    fill(F, [&] { return random_matrix(random, n, n); });
    fill(P, [&] { return random_covariance(random, n); });
    fill(weights, [&] { return random_symmetric(random, n); });
    for (int b = 0; b < F.kLanes; ++b) L.set_lower(b, random_lower(random, n));
    const auto loss = [&] {
      run(Call<double>{Op::Gram, lanes::Put::Set, n, n, n, {L.data()}, {Q.data()}});
      run(Call<double>{Op::Sandwich,
                       lanes::Put::Set,
                       n,
                       n,
                       n,
                       {F.data(), P.data(), Q.data()},
                       {out.data(), scratch.data()}});
      return weighted_sum(weights.span(), out.span());
    };
    run(Call<double>{Op::SandwichBackward,
                     lanes::Put::Set,
                     n,
                     n,
                     n,
                     {F.data(), P.data(), weights.data()},
                     {d_F.data(), d_P.data(), scratch.data()}});
    run(Call<double>{
        Op::GramBackward, lanes::Put::Set, n, n, n, {L.data(), weights.data()}, {d_L.data()}});
    check_gradient(
        loss,
        {{"F", F.span(), d_F.span()}, {"P", P.span(), d_P.span(), n}, {"L", L.span(), d_L.span()}},
        static_cast<std::uint64_t>(n));
  }
}

}  // namespace
}  // namespace kalmia::test
#endif  // HWY_ONCE
