// The density of innovations under Student-t noise: that it is one, what it is, and its adjoint.
#include <gtest/gtest.h>

#include <numbers>

#include "kalman/student_density_kernels.hpp"
#include "kalman/student_reference.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

constexpr int kLanes = Lines<double>::kLanes;
const double kLog2Pi = std::log(2 * std::numbers::pi);

// The log-density of lane 0's r, constants included.
double log_density(StudentLines& s) {
  student_density(s);
  return -0.5 * (s.nll.at(0, 0, 0) + s.M * kLog2Pi);
}

StudentLines one_component(double nu, double B) {
  StudentLines s(1, nu);
  fill(s.B, [&] { return Matrix::Constant(1, 1, B); });
  fill(s.R, [&] { return Matrix::Constant(1, 1, 1); });
  return s;
}

double density_at(StudentLines& s, double r) {
  fill(s.r, [&] { return Matrix::Constant(1, 1, r); });
  return std::exp(log_density(s));
}

double student(double nu, double r) {
  return std::exp(std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) -
                  0.5 * std::log(nu * std::numbers::pi) - 0.5 * (nu + 1) * std::log1p(r * r / nu));
}

// The integral of f over the real line; r = sinh(s), so that heavy tails are reached.
double integral(const std::function<double(double)>& f, double furthest, double step) {
  double sum = 0;
  for (double s = -furthest; s <= furthest; s += step) sum += step * f(std::sinh(s)) * std::cosh(s);
  return sum;
}

TEST(StudentDensity, IntegratesToOne) {
  for (const double nu : {1.0, 2.0, 3.0, 10.0, 200.0})
    for (const double B : {0.0, 0.3, 25.0}) {
      StudentLines s = one_component(nu, B);
      EXPECT_NEAR(integral([&](double r) { return density_at(s, r); }, 20, 0.02), 1, 1e-6)
          << "nu " << nu << ", B " << B;
    }
}

// What one component says of the weights of another must not spoil it.
TEST(StudentDensity, OfTwoCorrelatedComponentsIntegratesToOne) {
  StudentLines s(2, 3);
  Matrix B(2, 2), R(2, 2);
  B << 2, 1.2, 1.2, 1;
  R << 1, -0.4, -0.4, 0.5;
  fill(s.B, [&] { return B; });
  fill(s.R, [&] { return R; });
  const double sum = integral(
      [&](double r_0) {
        return integral(
            [&](double r_1) {
              s.r.at(0, 0, 0) = r_0;
              s.r.at(1, 0, 0) = r_1;
              return std::exp(log_density(s));
            },
            12, 0.1);
      },
      12, 0.1);
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(StudentDensity, WithoutAnErrorOfThePredictionIsStudents) {
  for (const double nu : {1.0, 2.5, 3.0, 10.0, 200.0}) {
    StudentLines s = one_component(nu, 0);
    for (const double r : {0.0, 0.5, 1.0, 3.0, 6.0})
      EXPECT_NEAR(density_at(s, r) / student(nu, r), 1, 1e-4) << "nu " << nu << ", r " << r;
  }
  StudentLines heavy = one_component(3, 0);
  for (const double r : {20.0, 300.0, 1000.0})
    EXPECT_NEAR(density_at(heavy, r) / student(3, r), 1, 1e-4) << r;
}

TEST(StudentDensity, IsThatOfNoiseAndTheErrorOfThePredictionTogether) {
  constexpr double nu = 3, B = 0.7;
  StudentLines s = one_component(nu, B);
  for (const double r : {0.0, 1.0, 3.0, 8.0, 40.0}) {
    const double expected = integral(
        [&](double e) {
          return student(nu, e) * std::exp(-0.5 * (r - e) * (r - e) / B) /
                 std::sqrt(2 * std::numbers::pi * B);
        },
        8, 0.002);
    EXPECT_NEAR(density_at(s, r) / expected, 1, 1e-4) << r;
  }
}

// Random moments, each lane its own, in units of order one; a fifth of the components are missing
// (masked as masked_innovation does), a fifth are outliers.
void randomise(StudentLines& s, RandomStream& random) {
  const int M = s.M;
  fill(s.B, [&] { return random_covariance(random, M); });
  fill(s.R, [&] { return random_covariance(random, M); });
  fill(s.r, [&]() -> Matrix { return 2 * random_matrix(random, M, 1); });
  fill(s.d_nll, [&] { return random_matrix(random, 1, 1); });
  for (int b = 0; b < kLanes; ++b)
    for (int m = 0; m < M; ++m) {
      const double kind = random.uniform();
      s.observed.at(m, 0, b) = kind > 0.2 || !s.masked ? 1 : 0;
      if (kind > 0.8) s.r.at(m, 0, b) += 15;
      if (s.observed.at(m, 0, b) != 0) continue;
      s.r.at(m, 0, b) = 0;
      for (int j = 0; j < M; ++j) {
        s.B.at(m, j, b) = s.B.at(j, m, b) = 0;
        s.R.at(m, j, b) = s.R.at(j, m, b) = m == j ? 1 : 0;
      }
    }
}

TEST(StudentDensity, IsWhatItsDefinitionSays) {
  for_each_isa([] {
    for (const int M : {1, 2, 3, 5})
      for (const double nu : {1.0, 3.0, 30.0}) {
        StudentLines s(M, nu);
        RandomStream random(70, "definition", static_cast<std::uint64_t>(M));
        s.masked = true;
        randomise(s, random);
        student_density(s);
        for (int b = 0; b < kLanes; ++b) {
          Vector r = s.r.get(b);
          for (int m = 0; m < M; ++m)
            if (s.observed.at(m, 0, b) == 0) r(m) = std::nan("");
          const double expected = student_nll(s.nodes, r, s.B.get(b), s.R.get(b));
          EXPECT_NEAR(s.nll.at(0, 0, b), expected, 1e-11 * std::max(1.0, std::abs(expected)))
              << "M = " << M << ", nu = " << nu << ", lane " << b;
        }
      }
  });
}

TEST(StudentDensity, OfManyDegreesOfFreedomIsGaussian) {
  for_each_isa([] {
    for (const int M : {1, 2, 4}) {
      StudentLines s(M, 1e12);
      RandomStream random(71, "many degrees");
      s.masked = true;
      randomise(s, random);
      student_density(s);
      for (int b = 0; b < kLanes; ++b) {
        const Matrix S = s.B.get(b) + s.R.get(b);
        const Vector r = s.r.get(b);
        double expected = r.dot(S.llt().solve(r));
        // A missing component is a row of the identity: it adds nothing.
        expected += std::log(S.determinant());
        EXPECT_NEAR(s.nll.at(0, 0, b), expected, 1e-6 * std::max(1.0, std::abs(expected)));
      }
    }
  });
}

TEST(StudentDensity, MissingComponentsDoNotCount) {
  for_each_isa([] {
    StudentLines s(3, 3), without(2, 3);
    RandomStream random(72, "missing");
    randomise(s, random);
    s.masked = true;
    for (int b = 0; b < kLanes; ++b) {
      for (int m = 0; m < 3; ++m) {
        s.observed.at(m, 0, b) = m == 1 ? 0 : 1;
        s.B.at(m, 1, b) = s.B.at(1, m, b) = 0;
        s.R.at(m, 1, b) = s.R.at(1, m, b) = m == 1 ? 1 : 0;
      }
      s.r.at(1, 0, b) = 0;
      for (int i = 0; i < 2; ++i) {
        without.r.at(i, 0, b) = s.r.at(2 * i, 0, b);
        for (int j = 0; j < 2; ++j) {
          without.B.at(i, j, b) = s.B.at(2 * i, 2 * j, b);
          without.R.at(i, j, b) = s.R.at(2 * i, 2 * j, b);
        }
      }
    }
    student_density(s);
    student_density(without);
    for (int b = 0; b < kLanes; ++b)
      EXPECT_NEAR(s.nll.at(0, 0, b), without.nll.at(0, 0, b), 1e-12) << "lane " << b;
  });
}

TEST(StudentDensity, AdjointMatchesCentralDifferences) {
  for_each_isa([] {
    for (const int M : {1, 2, 3, 5})
      for (const bool masked : {false, true}) {
        SCOPED_TRACE("M = " + std::to_string(M) + (masked ? ", masked" : ""));
        StudentLines s(M, 3);
        s.masked = masked;
        RandomStream random(73, "adjoint", static_cast<std::uint64_t>(M));
        randomise(s, random);
        student_density_backward(s);
        // Only what is measured moves.
        std::vector<double> r(s.r.span().begin(), s.r.span().end()),
            B(s.B.span().begin(), s.B.span().end()), R(s.R.span().begin(), s.R.span().end());
        const auto loss = [&] {
          const auto put = [&](const std::vector<double>& from, Lines<double>& to) {
            for (int i = 0; i < to.rows(); ++i)
              for (int j = 0; j < to.cols(); ++j)
                for (int b = 0; b < kLanes; ++b)
                  if (s.observed.at(i, 0, b) != 0 &&
                      (to.cols() == 1 || s.observed.at(j, 0, b) != 0))
                    to.at(i, j, b) =
                        from[static_cast<std::size_t>((i * to.cols() + j) * kLanes + b)];
          };
          put(r, s.r);
          put(B, s.B);
          put(R, s.R);
          student_density(s);
          double sum = 0;
          for (int b = 0; b < kLanes; ++b) sum += s.d_nll.at(0, 0, b) * s.nll.at(0, 0, b);
          return sum;
        };
        check_gradient(
            loss, {{"r", r, s.d_r.span(), 0}, {"B", B, s.d_B.span(), M}, {"R", R, s.d_R.span(), M}},
            7);
      }
  });
}

// The mean log-density of Gaussian innovations is largest for Gaussian noise, whatever share of
// them the prediction's error has.
TEST(StudentDensity, GaussianDataPreferGaussianNoise) {
  for (const double B : {0.1, 1.0, 10.0}) {
    const double variance = 1 + B;
    const double gaussian = -0.5 * (1 + kLog2Pi + std::log(variance));
    double last = -std::numeric_limits<double>::infinity();
    for (const double nu : {2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 200.0}) {
      StudentLines s = one_component(nu, B);
      const double mean = integral(
          [&](double r) {
            return r * r > 100 * variance ? 0
                                          : std::exp(-0.5 * r * r / variance) /
                                                std::sqrt(2 * std::numbers::pi * variance) *
                                                std::log(density_at(s, r));
          },
          5, 0.01);
      EXPECT_LT(mean, gaussian) << "nu " << nu << ", B " << B;
      EXPECT_GT(mean, last) << "nu " << nu << ", B " << B;
      last = mean;
    }
  }
}

}  // namespace
}  // namespace kalmia::test
