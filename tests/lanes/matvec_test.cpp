// Products of a column matrix with one vector against Eigen.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/matvec_test.cpp"
#include <hwy/foreach_target.h>

#include "lanes/matvec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

void matvec_float(const lanes::ColumnMatrix<float>& W, const float* x, const float* start,
                  float* out) {
  lanes::HWY_NAMESPACE::matvec(W, x, start, out);
}
void matvec_double(const lanes::ColumnMatrix<double>& W, const double* x, const double* start,
                   double* out) {
  lanes::HWY_NAMESPACE::matvec(W, x, start, out);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include "support/isas.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(matvec_float);
HWY_EXPORT(matvec_double);

template <typename T>
void expect_matvec(int rows, int cols, int blocks) {
  RandomStream random(5, "matvec", static_cast<std::uint64_t>(rows * 1000 + cols));
  const Matrix W = random_matrix(random, rows, cols);
  const Matrix x = random_matrix(random, cols, 1);
  Buffer<T> dense(static_cast<std::size_t>(rows * cols)), vector(static_cast<std::size_t>(cols));
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < cols; ++k)
      dense[static_cast<std::size_t>(i * cols + k)] = static_cast<T>(W(i, k));
  for (int k = 0; k < cols; ++k) vector[static_cast<std::size_t>(k)] = static_cast<T>(x(k));
  lanes::ColumnMatrix<T> columns;
  columns.assign(dense.data(), rows, cols, blocks);
  Buffer<T> start(static_cast<std::size_t>(columns.rows)), out(start.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<T>(i);
  if constexpr (sizeof(T) == 4)
    HWY_DYNAMIC_DISPATCH(matvec_float)(columns, vector.data(), start.data(), out.data());
  else
    HWY_DYNAMIC_DISPATCH(matvec_double)(columns, vector.data(), start.data(), out.data());
  const Vector want = W * x;
  const int block = rows / blocks;
  const int padded = lanes::padded_to_line<T>(block);
  ASSERT_EQ(columns.rows, blocks * padded);
  for (int i = 0; i < rows; ++i) {
    const int at = i / block * padded + i % block;
    EXPECT_NEAR(static_cast<double>(out[static_cast<std::size_t>(at)]), want(i) + at,
                (1 + at) * rounding<T>(cols))
        << rows << " x " << cols << ", row " << i;
  }
}

TEST(Matvec, EqualsEigen) {
  for_each_isa([] {
    for (const int rows : {1, 9, 18, 63, 192, 408})
      for (const int cols : {1, 3, 17, 64}) {
        expect_matvec<float>(rows, cols, 1);
        expect_matvec<double>(rows, cols, 1);
        expect_matvec<float>(3 * rows, cols, 3);
      }
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
