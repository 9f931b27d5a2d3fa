#include "prior/lorenz_matrix.hpp"

#include <gtest/gtest.h>

#include "support/gradient_check.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

// A(x) x must be the Lorenz vector field.
TEST(LorenzMatrix, TimesTheStateIsTheVectorField) {
  const double sigma = 10, rho = 28, beta = 8.0 / 3;
  const prior::LorenzMatrix matrix(sigma, rho, beta);
  RandomStream random(95, "lorenz");
  Lines<double> x(3, 1), A(3, 3);
  fill(x, [&] { return random_matrix(random, 3, 1); });
  matrix.evaluate(x.data(), A.data());
  for (int b = 0; b < x.kLanes; ++b) {
    const Vector s = x.get(b);
    const Vector field{
        {sigma * (s(1) - s(0)), s(0) * (rho - s(2)) - s(1), s(0) * s(1) - beta * s(2)}};
    EXPECT_LE(difference(A.get(b) * s, field), 1e-14);
  }
}

TEST(LorenzMatrix, AdjointMatchesCentralDifferences) {
  const prior::LorenzMatrix matrix;
  RandomStream random(96, "lorenz");
  Lines<double> x(3, 1), A(3, 3), weights(3, 3), d_x(3, 1);
  fill(x, [&] { return random_matrix(random, 3, 1); });
  fill(weights, [&] { return random_matrix(random, 3, 3); });
  matrix.adjoint(x.data(), weights.data(), d_x.data());
  check_gradient(
      [&] {
        matrix.evaluate(x.data(), A.data());
        return weighted_sum(weights.span(), A.span());
      },
      {{"x", x.span(), d_x.span()}}, 97);
}

}  // namespace
}  // namespace kalmia::test
