// Products of packed matrices with panels against Eigen.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/dense_test.cpp"
#include <hwy/foreach_target.h>

#include "lanes/dense-inl.h"

#ifndef KALMIA_TEST_DENSE_CALL_
#define KALMIA_TEST_DENSE_CALL_
namespace kalmia::test {
enum class Begin { Zero, Bias, Accumulate };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

template <typename T>
void product_here(const lanes::PackedMatrix<T>& W, const T* in, int lanes, Begin begin,
                  const T* bias, T* out) {
  const ln::Start start = begin == Begin::Zero   ? ln::Start::Zero
                          : begin == Begin::Bias ? ln::Start::Bias
                                                 : ln::Start::Accumulate;
  ln::product(W, in, lanes, start, bias, out);
}
// gradient += sum over steps of a[t] b[t]' in the narrow form, wide = the same in the wide form
// (cols padded), bias_gradient += row sums of a.
template <typename T>
void gradients_here(const T* a, int rows, const T* b, int cols, int steps, int lanes, T* sums,
                    T* gradient, T* wide, T* bias_gradient) {
  const int padded = lanes::padded_to_line<T>(cols);
  Buffer<T> b_T(static_cast<std::size_t>(steps * lanes * padded));
  for (int t = 0; t < steps; ++t)
    ln::transpose(b + t * cols * lanes, cols, lanes, b_T.data() + t * lanes * padded, padded);
  ln::outer_product_wide<T>({a, rows * lanes}, rows, {b_T.data(), lanes * padded}, padded, padded,
                            steps, lanes, wide);
  ln::outer_product_narrow<T>({a, rows * lanes}, rows, {b, cols * lanes}, cols, steps, lanes, sums);
  ln::sum_lines(sums, static_cast<std::ptrdiff_t>(rows) * cols, gradient);
  ln::row_sums<T>({a, rows * lanes}, rows, steps, lanes, sums);
  ln::sum_lines(sums, rows, bias_gradient);
}

void product_float(const lanes::PackedMatrix<float>& W, const float* in, int lanes, Begin begin,
                   const float* bias, float* out) {
  product_here(W, in, lanes, begin, bias, out);
}
void product_double(const lanes::PackedMatrix<double>& W, const double* in, int lanes, Begin begin,
                    const double* bias, double* out) {
  product_here(W, in, lanes, begin, bias, out);
}
void gradients_float(const float* a, int rows, const float* b, int cols, int steps, int lanes,
                     float* sums, float* gradient, float* wide, float* bias_gradient) {
  gradients_here(a, rows, b, cols, steps, lanes, sums, gradient, wide, bias_gradient);
}
void gradients_double(const double* a, int rows, const double* b, int cols, int steps, int lanes,
                      double* sums, double* gradient, double* wide, double* bias_gradient) {
  gradients_here(a, rows, b, cols, steps, lanes, sums, gradient, wide, bias_gradient);
}
}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <vector>

#include "support/isas.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(product_float);
HWY_EXPORT(product_double);
HWY_EXPORT(gradients_float);
HWY_EXPORT(gradients_double);

template <typename T>
Buffer<T> buffer_of(const Matrix& matrix) {
  Buffer<T> out(static_cast<std::size_t>(matrix.size()));
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j)
      out[static_cast<std::size_t>(i * matrix.cols() + j)] = static_cast<T>(matrix(i, j));
  return out;
}
template <typename T>
Matrix matrix_of(const Buffer<T>& buffer, int rows, int cols) {
  Matrix out(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      out(i, j) = static_cast<double>(buffer[static_cast<std::size_t>(i * cols + j)]);
  return out;
}

template <typename T>
void expect_product(int rows, int cols, int lanes, bool transposed) {
  RandomStream random(3, "dense", static_cast<std::uint64_t>(rows * 1000 + cols));
  const Matrix W = random_matrix(random, rows, cols);
  const Matrix in = random_matrix(random, cols, lanes);
  const Matrix bias = random_matrix(random, rows, 1);
  const Matrix old = random_matrix(random, rows, lanes);
  lanes::PackedMatrix<T> packed;
  packed.pack(buffer_of<T>(transposed ? Matrix(W.transpose()) : W).data(), rows, cols, transposed);
  const Buffer<T> x = buffer_of<T>(in), b = buffer_of<T>(bias);
  for (const Begin begin : {Begin::Zero, Begin::Bias, Begin::Accumulate}) {
    Buffer<T> out = buffer_of<T>(old);
    if constexpr (sizeof(T) == 4)
      HWY_DYNAMIC_DISPATCH(product_float)(packed, x.data(), lanes, begin, b.data(), out.data());
    else
      HWY_DYNAMIC_DISPATCH(product_double)(packed, x.data(), lanes, begin, b.data(), out.data());
    Matrix want = W * in;
    if (begin == Begin::Bias) want.colwise() += Vector(bias);
    if (begin == Begin::Accumulate) want += old;
    EXPECT_LE(difference(matrix_of(out, rows, lanes), want), rounding<T>(cols))
        << rows << " x " << cols << " times " << lanes << " lanes, start "
        << static_cast<int>(begin);
  }
}

TEST(Dense, ProductEqualsEigen) {
  for_each_isa([] {
    for (const int rows : {1, 2, 7, 12, 13, 18, 25, 64})
      for (const int cols : {1, 3, 17, 64})
        for (const int lanes : {16, 32, 48}) {
          expect_product<float>(rows, cols, lanes, false);
          expect_product<double>(rows, cols, lanes, true);
        }
  });
}

template <typename T>
void expect_gradients(int rows, int cols, int steps, int lanes) {
  RandomStream random(4, "dense gradients", static_cast<std::uint64_t>(rows * 1000 + cols));
  const Matrix a = random_matrix(random, steps * rows, lanes);
  const Matrix b = random_matrix(random, steps * cols, lanes);
  Matrix want = Matrix::Zero(rows, cols);
  Matrix want_bias = Matrix::Zero(rows, 1);
  for (int t = 0; t < steps; ++t) {
    want += a.middleRows(t * rows, rows) * b.middleRows(t * cols, cols).transpose();
    want_bias += a.middleRows(t * rows, rows).rowwise().sum();
  }
  const Buffer<T> pa = buffer_of<T>(a), pb = buffer_of<T>(b);
  Buffer<T> sums(static_cast<std::size_t>(rows * cols * lanes::kLineLanes<T>));
  Buffer<T> gradient(static_cast<std::size_t>(rows * cols)), bias(static_cast<std::size_t>(rows));
  const int padded = lanes::padded_to_line<T>(cols);
  Buffer<T> wide(static_cast<std::size_t>(rows * padded));
  if constexpr (sizeof(T) == 4) HWY_DYNAMIC_DISPATCH(gradients_float)
  (pa.data(), rows, pb.data(), cols, steps, lanes, sums.data(), gradient.data(), wide.data(),
   bias.data());
  else HWY_DYNAMIC_DISPATCH(gradients_double)(pa.data(), rows, pb.data(), cols, steps, lanes,
                                              sums.data(), gradient.data(), wide.data(),
                                              bias.data());
  EXPECT_LE(difference(matrix_of(gradient, rows, cols), want), rounding<T>(steps * lanes))
      << rows << " x " << cols;
  EXPECT_LE(difference(matrix_of(wide, rows, padded).leftCols(cols), want),
            rounding<T>(steps * lanes))
      << rows << " x " << cols << ", wide";
  EXPECT_LE(difference(matrix_of(bias, rows, 1), want_bias), rounding<T>(steps * lanes));
  for (const T sum : sums.span()) ASSERT_EQ(sum, T(0)) << "sum_lines must clear the lines";
}

TEST(Dense, WeightGradientsEqualEigen) {
  for_each_isa([] {
    for (const int rows : {1, 5, 6, 13, 24})
      for (const int cols : {1, 3, 4, 9, 16, 37, 64}) {
        expect_gradients<float>(rows, cols, 5, 32);
        expect_gradients<double>(rows, cols, 3, 48);
      }
  });
}

TEST(EvenSplit, CoversAllRowsWithTilesOfAlmostEqualSize) {
  for (int rows = 0; rows < 60; ++rows)
    for (int most = 1; most <= 12; ++most) {
      const lanes::EvenSplit split(rows, most);
      int row = 0;
      for (int tile = 0; tile < split.tiles; ++tile) {
        ASSERT_EQ(split.begin(tile), row);
        ASSERT_LE(split.size(tile), most);
        ASSERT_LE(split.size(0) - split.size(tile), 1);
        row += split.size(tile);
      }
      ASSERT_EQ(row, rows);
    }
}

}  // namespace
}  // namespace kalmia::test
#endif
