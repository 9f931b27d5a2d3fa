// Robust weights against the fixed point written out on the reference's update, and what they do to
// outliers.
#include <gtest/gtest.h>

#include "kalman/robust_kernels.hpp"
#include "support/isas.hpp"
#include "support/reference.hpp"

namespace kalmia::test {
namespace {

struct RobustSize {
  int N, M;
};
const RobustSize kRobustSizes[] = {{1, 1}, {2, 1}, {2, 4}, {3, 3}, {6, 2}};

// Predictions about as sharp as the measurements; each lane its own. A fifth of the components are
// missing, and hold NaN; a fifth are outliers.
template <typename T>
void randomise(RobustLines<T>& s, RandomStream& random) {
  for (int b = 0; b < Lines<T>::kLanes; ++b) {
    s.H.set(b, random_matrix(random, s.M, s.N) / std::sqrt(static_cast<double>(s.N)));
    s.R.set(b, random_covariance(random, s.M));
    s.x_pred.set(b, random_matrix(random, s.N, 1));
    s.P_pred.set(b, 0.5 * random_covariance(random, s.N));
    s.y.set(b, s.H.get(b) * s.x_pred.get(b) + 1.5 * random_matrix(random, s.M, 1));
    for (int m = 0; m < s.M; ++m) {
      const double kind = random.uniform();
      s.observed.at(m, 0, b) = kind < 0.2 ? T(0) : T(1);
      if (kind < 0.2) s.y.at(m, 0, b) = std::numeric_limits<T>::quiet_NaN();
      if (kind > 0.8) s.y.at(m, 0, b) += T(15);
    }
  }
}

// One lane's problem, and the update with the noise scaled by w.
struct Problem {
  template <typename T>
  Problem(const RobustLines<T>& s, int b)
      : H(s.H.get(b)),
        R(s.R.get(b)),
        y(s.y.get(b)),
        predicted{s.x_pred.get(b), s.P_pred.get(b)},
        nu(s.options.degrees_of_freedom) {}

  reference::Gaussian updated(const Vector& w) const {
    const Matrix scale = w.cwiseSqrt().cwiseInverse().asDiagonal();
    return reference::update(predicted, y, H, scale * R * scale).filtered;
  }
  Vector start() const {
    const Vector r = y - H * predicted.mean;
    const Matrix S = H * predicted.cov * H.transpose() + R;
    return weights(r.cwiseAbs2(), S.diagonal());
  }
  // The right side of the fixed point.
  Vector next(const Vector& w) const {
    const reference::Gaussian filtered = updated(w);
    const Vector e = y - H * filtered.mean;
    const Matrix spread = H * filtered.cov * H.transpose();
    return weights(e.cwiseAbs2() + spread.diagonal(), R.diagonal());
  }
  Vector weights(const Vector& square, const Vector& scale) const {
    Vector w(y.size());
    for (int i = 0; i < w.size(); ++i)
      w(i) = std::isnan(y(i)) ? 1 : (nu + 1) / (nu + square(i) / scale(i));
    return w;
  }

  Matrix H, R;
  Vector y;
  reference::Gaussian predicted;
  double nu;
};

template <typename T>
class Robust : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Robust, Precisions);

TYPED_TEST(Robust, WeightsMatchReferenceAfterEveryIteration) {
  using T = TypeParam;
  for_each_isa([] {
    for (const RobustSize size : kRobustSizes) {
      RandomStream random(51, "weights", static_cast<std::uint64_t>(size.N));
      RobustLines<T> s(size.N, size.M);
      for (const bool masked : {true, false}) {
        randomise(s, random);
        s.masked = masked;
        if (!masked) fill(s.y, [&]() -> Matrix { return 3 * random_matrix(random, size.M, 1); });
        for (int iterations = 0; iterations < 4; ++iterations) {
          s.options.iterations = iterations;
          ASSERT_EQ(robust_weights(s), 0u);
          for (int b = 0; b < Lines<T>::kLanes; ++b) {
            const Problem problem(s, b);
            Vector w = problem.start();
            for (int k = 0; k < iterations; ++k) w = problem.next(w);
            ASSERT_LE(difference(s.weights.get(b), w), 16 * rounding<T>(size.N * size.M))
                << "N = " << size.N << ", M = " << size.M << ", iterations = " << iterations
                << ", lane " << b;
            for (int m = 0; masked && m < size.M; ++m) {
              if (s.observed.at(m, 0, b) == 0) {
                ASSERT_EQ(s.weights.at(m, 0, b), T(1));
              }
            }
          }
        }
      }
    }
  });
}

// How far the weights are from solving their equation.
TEST(RobustWeights, SolveTheFixedPoint) {
  for (const RobustSize size : kRobustSizes) {
    RandomStream random(52, "fixed point", static_cast<std::uint64_t>(size.N));
    RobustLines<double> s(size.N, size.M);
    randomise(s, random);
    const auto residual = [&](int iterations) {
      s.options.iterations = iterations;
      EXPECT_EQ(robust_weights(s), 0u);
      double largest = 0;
      for (int b = 0; b < Lines<double>::kLanes; ++b) {
        const Vector w = s.weights.get(b);
        largest = std::max(largest, (Problem(s, b).next(w) - w).cwiseAbs().maxCoeff());
      }
      return largest;
    };
    EXPECT_LE(residual(kalman::RobustOptions().iterations), 0.01) << "N = " << size.N;
    EXPECT_LE(residual(60), 1e-8) << "N = " << size.N;
  }
}

// Four measurements of two states, the first off by 20 sigma.
TEST(RobustWeights, SetAnOutlierAside) {
  RandomStream random(53, "outlier");
  RobustLines<double> s(2, 4);
  s.masked = false;
  const Matrix H{{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  fill(s.H, [&] { return H; });
  fill(s.R, [] { return Matrix::Identity(4, 4); });
  fill(s.P_pred, [] { return 0.5 * Matrix::Identity(2, 2); });
  fill(s.y, [&]() -> Matrix { return Vector{{20, 0, 0, 0}} + 0.5 * random_matrix(random, 4, 1); });
  ASSERT_EQ(robust_weights(s), 0u);
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    Problem problem(s, b);
    const Vector w = s.weights.get(b);
    const Vector robust = problem.updated(w).mean;
    const Vector plain = problem.updated(Vector::Ones(4)).mean;
    problem.y(0) = std::numeric_limits<double>::quiet_NaN();
    const reference::Gaussian without = problem.updated(Vector::Ones(4));
    const double deviation = std::sqrt(without.cov(0, 0));
    EXPECT_LE((robust - without.mean).norm(), 0.25 * deviation) << "lane " << b;
    EXPECT_GE((plain - without.mean).norm(), 8 * deviation) << "lane " << b;
    EXPECT_LE(w(0), 0.02);
    for (int m = 1; m < 4; ++m) EXPECT_NEAR(w(m), 1.05, 0.2) << "lane " << b << ", " << m;
  }
}

TEST(RobustWeights, AreOneForManyDegreesOfFreedom) {
  RandomStream random(54, "Gaussian");
  RobustLines<double> s(3, 3);
  randomise(s, random);
  s.masked = false;
  fill(s.y, [&] { return random_matrix(random, 3, 1); });
  s.options.degrees_of_freedom = 1e6;
  ASSERT_EQ(robust_weights(s), 0u);
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    const Problem problem(s, b);
    const Vector w = s.weights.get(b);
    EXPECT_LE(difference(w, Vector::Ones(3)), 3e-5);
    EXPECT_LE(difference(s.R_eff.get(b), problem.R), 3e-5);
    EXPECT_LE(difference(problem.updated(w).mean, problem.updated(Vector::Ones(3)).mean), 3e-5);
  }
}

TEST(RobustWeights, ReportTheLaneThatFailedAndSpareTheOthers) {
  for_each_isa([] {
    RobustLines<double> good(2, 2), bad(2, 2);
    for (RobustLines<double>* s : {&good, &bad}) {
      RandomStream random(55, "failure");
      randomise(*s, random);
      fill(s->observed, [] { return Matrix::Ones(2, 1); });
      fill(s->y, [&] { return random_matrix(random, 2, 1); });
    }
    bad.P_pred.set(3, -100 * Matrix::Identity(2, 2));
    ASSERT_EQ(robust_weights(good), 0u);
    ASSERT_EQ(robust_weights(bad), 0b1000u);
    EXPECT_TRUE(bad.weights.get(3).array().isNaN().all());
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      if (b == 3) continue;
      EXPECT_EQ(bad.weights.get(b), good.weights.get(b)) << "lane " << b;
    }
  });
}

// <d, D^-1/2 R D^-1/2> = <D^-1/2 d D^-1/2, R>, added to what was there.
TEST(RobustWeights, ScaledNoiseIsItsOwnAdjoint) {
  RandomStream random(56, "adjoint");
  RobustLines<double> s(3, 3);
  randomise(s, random);
  ASSERT_EQ(robust_weights(s), 0u);
  const Matrix R = s.R.get(0), R_eff = s.R_eff.get(0);
  const Matrix d = random_symmetric(random, 3), before = random_symmetric(random, 3);
  s.R_eff.set(0, d);
  s.R.set(0, before);
  add_scaled_noise(s);
  const Matrix added = s.R.get(0) - before;
  EXPECT_NEAR(added.cwiseProduct(R).sum(), d.cwiseProduct(R_eff).sum(), 1e-12);
  EXPECT_EQ(s.R.get(0), s.R.get(0).transpose());
}

}  // namespace
}  // namespace kalmia::test
