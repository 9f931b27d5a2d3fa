// The update for any emission, against the reference's update; its adjoint under Student-t noise.
// Other adjoints are tested with the window's (tests/heads/recursion_test.cpp).
#include <gtest/gtest.h>

#include "kalman/general_update_kernels.hpp"
#include "kalman/student_reference.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/reference.hpp"
#include "support/window_case.hpp"

namespace kalmia::test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Size {
  int N, M;
};
const Size kSizes[] = {{1, 1}, {2, 1}, {2, 4}, {3, 3}, {6, 2}};

std::vector<double> numbers(const Matrix& matrix) {
  const RowMajor rows = matrix;
  return {rows.data(), rows.data() + rows.size()};
}

// A random update, each lane its own; a fifth of the components are missing and hold NaN.
struct Case {
  Case(Size size, std::uint64_t seed)
      : random(seed, "general update"),
        N(size.N),
        M(size.M),
        H(random_matrix(random, size.M, size.N)),
        R(random_covariance(random, size.M)),
        emission(N, M, numbers(H), numbers(R)),
        bent(N, M, seed),
        lines(size.N, size.M) {
    lines.emission.linear = &emission;
    lines.theta = theta;
    fill(lines.x_pred, [&] { return random_matrix(random, N, 1); });
    fill(lines.linearise, [&] { return random_matrix(random, N, 1); });
    fill(lines.P_pred, [&] { return random_covariance(random, N); });
    fill(lines.y, [&]() -> Matrix { return 2 * random_matrix(random, M, 1); });
    for (int b = 0; b < Lines<double>::kLanes; ++b)
      for (int m = 0; m < M; ++m) {
        const bool seen = random.uniform() > 0.2;
        lines.observed.at(m, 0, b) = seen ? 1 : 0;
        lines.given.at(m, 0, b) = 0.1 + 3 * random.uniform();
        if (!seen) lines.y.at(m, 0, b) = std::numeric_limits<double>::quiet_NaN();
      }
  }

  // Lane b by the reference, with these weights.
  reference::Update expected(int b, const Vector& weights) const {
    const Matrix scale = weights.cwiseSqrt().cwiseInverse().asDiagonal();
    const reference::Gaussian predicted{lines.x_pred.get(b), lines.P_pred.get(b)};
    Matrix slope = H;
    Vector offset = Vector::Zero(M);
    if (lines.emission.map != nullptr) {
      Lines<double> value(M, 1), jacobian(M, N);
      const Lines<double>& at = lines.relinearised ? lines.linearise : lines.x_pred;
      bent.forward({.x = at.data(), .theta = theta}, value.data(), jacobian.data(), nullptr);
      slope = jacobian.get(b);
      offset = value.get(b) - slope * at.get(b);
    }
    return reference::update(predicted, lines.y.get(b), slope, offset, scale * R * scale);
  }
  // The loss of lane b under Student-t noise.
  double student_loss(int b) const {
    const reference::Gaussian predicted{lines.x_pred.get(b), lines.P_pred.get(b)};
    Matrix slope = H;
    Vector y_pred = H * predicted.mean;
    if (lines.emission.map != nullptr) {
      Lines<double> value(M, 1), jacobian(M, N);
      const Lines<double>& at = lines.relinearised ? lines.linearise : lines.x_pred;
      bent.forward({.x = at.data(), .theta = theta}, value.data(), jacobian.data(), nullptr);
      slope = jacobian.get(b);
      y_pred = value.get(b) + slope * (predicted.mean - at.get(b));
    }
    Matrix scale = Matrix::Identity(M, M);
    if (lines.weighted) scale = Vector(lines.given.get(b)).cwiseSqrt().cwiseInverse().asDiagonal();
    return student_nll(lines.emission.robust->nodes, lines.y.get(b) - y_pred,
                       slope * predicted.cov * slope.transpose(), scale * R * scale);
  }
  void expect_reference(const std::function<Vector(int b)>& weights, double tolerance = 1e-11) {
    ASSERT_EQ(general_update(lines), 0u);
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      const reference::Update e = expected(b, weights(b));
      ASSERT_LE(difference(lines.x_filt.get(b), e.filtered.mean), tolerance) << "lane " << b;
      ASSERT_LE(difference(lines.P_filt.get(b), e.filtered.cov), tolerance) << "lane " << b;
      const double nll = lines.emission.robust == nullptr ? e.nll : student_loss(b);
      ASSERT_NEAR(lines.nll.at(0, 0, b), nll, tolerance * std::max(1.0, std::abs(nll)));
    }
  }

  RandomStream random;
  int N, M;
  Matrix H, R;
  kalman::Emission emission;
  BentEmission bent;
  const double theta[2] = {0.7, 0};
  GeneralLines lines;
};

TEST(GeneralUpdate, WithoutWeightsIsThePlainUpdate) {
  for_each_isa([] {
    for (const Size size : kSizes)
      for (const bool bent : {false, true}) {
        SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
        Case c(size, 61);
        if (bent) c.lines.emission.map = &c.bent;
        c.expect_reference([&](int) { return Vector::Ones(size.M); });
        for (const double w : c.lines.weights.span()) EXPECT_EQ(w, 1);
        // Weights of 1 that are given change no bit.
        const auto kept = [](const Lines<double>& l) {
          return std::vector<double>(l.span().begin(), l.span().end());
        };
        const std::vector<double> x = kept(c.lines.x_filt), P = kept(c.lines.P_filt),
                                  nll = kept(c.lines.nll);
        c.lines.weighted = true;
        for (double& w : c.lines.given.span()) w = 1;
        ASSERT_EQ(general_update(c.lines), 0u);
        EXPECT_EQ(x, kept(c.lines.x_filt));
        EXPECT_EQ(P, kept(c.lines.P_filt));
        EXPECT_EQ(nll, kept(c.lines.nll));
      }
  });
}

TEST(GeneralUpdate, WeightsScaleTheNoise) {
  for_each_isa([] {
    for (const Size size : kSizes)
      for (const bool bent : {false, true}) {
        SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
        Case c(size, 62);
        if (bent) c.lines.emission.map = &c.bent;
        c.lines.weighted = true;
        c.expect_reference([&](int b) { return Vector(c.lines.given.get(b)); });
      }
  });
}

// Linearised elsewhere than at the prediction, with weights that are given or follow from the data.
TEST(GeneralUpdate, IsLinearisedWhereItIsTold) {
  for_each_isa([] {
    const kalman::RobustOptions robust{.degrees_of_freedom = 4};
    for (const Size size : kSizes)
      for (const bool student : {false, true}) {
        SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
        Case c(size, 66);
        c.lines.emission.map = &c.bent;
        c.lines.weighted = true;
        c.lines.relinearised = true;
        if (student) c.lines.emission.robust = &robust;
        c.expect_reference(
            [&](int b) { return Vector(student ? c.lines.weights.get(b) : c.lines.given.get(b)); });
      }
  });
}

// A Student-t of very many degrees of freedom is a Gaussian, its loss included.
TEST(GeneralUpdate, RobustNoiseOfManyDegreesOfFreedomIsGaussian) {
  for_each_isa([] {
    const kalman::RobustOptions robust{.degrees_of_freedom = 1e13};
    for (const Size size : kSizes) {
      Case c(size, 63);
      c.lines.emission.robust = &robust;
      c.lines.weighted = true;
      c.expect_reference([&](int b) { return Vector(c.lines.given.get(b)); }, 1e-9);
      for (int b = 0; b < Lines<double>::kLanes; ++b) {
        const double gaussian = c.expected(b, Vector(c.lines.given.get(b))).nll;
        EXPECT_NEAR(c.lines.nll.at(0, 0, b), gaussian, 1e-9 * std::max(1.0, std::abs(gaussian)));
      }
    }
  });
}

// The loss of a step does not depend on the weights that were chosen for the state: nothing is left
// out of its adjoint.
TEST(GeneralUpdate, TheAdjointOfAStudentLossIsExact) {
  for_each_isa([] {
    const kalman::RobustOptions robust{.degrees_of_freedom = 3};
    for (const Size size : kSizes)
      for (const bool weighted : {false, true})
        for (const bool bent : {false, true}) {
          SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
          Case c(size, 66);
          c.lines.emission.robust = &robust;
          if (bent) c.lines.emission.map = &c.bent;
          c.lines.weighted = weighted;
          fill(c.lines.d_nll, [&] { return random_matrix(c.random, 1, 1); });
          general_update_backward(c.lines);
          std::vector<double> R = numbers(c.R), d_R(R.size(), 0.0);
          for (int i = 0; i < size.M * size.M; ++i)
            for (int b = 0; b < Lines<double>::kLanes; ++b)
              d_R[static_cast<std::size_t>(i)] += c.lines.d_R.at(i / size.M, i % size.M, b);
          const auto loss = [&] {
            c.emission.set_R(R);
            EXPECT_EQ(general_update(c.lines), 0u);
            double sum = 0;
            for (int b = 0; b < Lines<double>::kLanes; ++b)
              sum += c.lines.d_nll.at(0, 0, b) * c.lines.nll.at(0, 0, b);
            return sum;
          };
          check_gradient(loss,
                         {{"x_pred", c.lines.x_pred.span(), c.lines.d_x_pred.span(), 0},
                          {"P_pred", c.lines.P_pred.span(), c.lines.d_P_pred.span(), size.N},
                          {"R", R, d_R, size.M}},
                         9);
        }
  });
}

// In the adjoint of the state, the chosen weights are constants: as if they were data.
TEST(GeneralUpdate, ChosenWeightsAreConstantsOfTheStatesAdjoint) {
  for_each_isa([] {
    const kalman::RobustOptions robust{.degrees_of_freedom = 3};
    for (const Size size : kSizes) {
      SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
      Case c(size, 67);
      c.lines.emission.map = &c.bent;
      fill(c.lines.d_x_filt, [&] { return random_matrix(c.random, size.N, 1); });
      fill(c.lines.d_P_filt, [&] { return random_symmetric(c.random, size.N); });
      const auto kept = [](const Lines<double>& l) {
        return std::vector<double>(l.span().begin(), l.span().end());
      };
      c.lines.emission.robust = &robust;
      general_update_backward(c.lines);
      const std::vector<double> x = kept(c.lines.d_x_pred), P = kept(c.lines.d_P_pred),
                                R = kept(c.lines.d_R);
      for (std::size_t i = 0; i < c.lines.given.span().size(); ++i)
        c.lines.given.span()[i] = c.lines.weights.span()[i];
      c.lines.weighted = true;
      c.lines.emission.robust = nullptr;
      general_update_backward(c.lines);
      const auto expect_same = [](const std::vector<double>& a, const Lines<double>& b) {
        for (std::size_t i = 0; i < a.size(); ++i)
          EXPECT_NEAR(a[i], b.span()[i], 1e-12 * std::max(1.0, std::abs(a[i])));
      };
      expect_same(x, c.lines.d_x_pred);
      expect_same(P, c.lines.d_P_pred);
      expect_same(R, c.lines.d_R);
    }
  });
}

// The weights that were chosen are those of the result, times the given ones; and they solve the
// equation of robust-inl.h for the noise that was given.
TEST(GeneralUpdate, RobustWeightsAreThoseOfTheResult) {
  for_each_isa([] {
    const kalman::RobustOptions robust{.degrees_of_freedom = 4, .iterations = 200};
    for (const Size size : kSizes)
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE("N = " + std::to_string(size.N) + ", M = " + std::to_string(size.M));
        Case c(size, 64);
        c.lines.emission.robust = &robust;
        c.lines.emission.map = &c.bent;
        c.lines.weighted = weighted;
        c.expect_reference([&](int b) { return Vector(c.lines.weights.get(b)); });
        Lines<double> value(size.M, 1), jacobian(size.M, size.N);
        c.bent.forward({.x = c.lines.x_pred.data(), .theta = c.theta}, value.data(),
                       jacobian.data(), nullptr);
        for (int b = 0; b < Lines<double>::kLanes; ++b) {
          const Matrix slope = jacobian.get(b);
          const Vector e = c.lines.y.get(b) - value.get(b) -
                           slope * (c.lines.x_filt.get(b) - c.lines.x_pred.get(b));
          const Vector spread =
              Matrix(slope * c.lines.P_filt.get(b) * slope.transpose()).diagonal();
          for (int m = 0; m < size.M; ++m) {
            const double given = weighted ? c.lines.given.at(m, 0, b) : 1;
            const double noise = c.R(m, m) / given;
            const double expected =
                c.lines.observed.at(m, 0, b) == 0 ? 1 : 5 / (4 + (e(m) * e(m) + spread(m)) / noise);
            EXPECT_NEAR(c.lines.weights.at(m, 0, b), given * expected, 1e-6);
          }
        }
      }
  });
}

TEST(GeneralUpdate, AnOutlierIsSetAside) {
  const kalman::RobustOptions robust;
  Case c({2, 1}, 65);
  for (double& o : c.lines.observed.span()) o = 1;
  const auto moved = [&](double sigmas) {
    for (int b = 0; b < Lines<double>::kLanes; ++b) {
      const Matrix S = c.H * c.lines.P_pred.get(b) * c.H.transpose() + c.R;
      c.lines.y.at(0, 0, b) = (c.H * c.lines.x_pred.get(b))(0) + sigmas * std::sqrt(S(0, 0));
    }
    EXPECT_EQ(general_update(c.lines), 0u);
    return (c.lines.x_filt.get(3) - c.lines.x_pred.get(3)).norm();
  };
  const double plain = moved(1), plain_far = moved(30);
  EXPECT_NEAR(plain_far, 30 * plain, 1e-9 * plain_far);
  c.lines.emission.robust = &robust;
  EXPECT_GT(moved(1), 0.5 * plain);
  EXPECT_LT(moved(30), 0.5 * plain);
  for (const double w : c.lines.weights.span()) EXPECT_LT(w, 0.05);
}

}  // namespace
}  // namespace kalmia::test
