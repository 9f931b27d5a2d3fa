#include "kalman/student.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "kalmia/error.hpp"

namespace kalmia::kalman {
namespace {

// Squares of scale * t_nu; nu = 0 stands for the normal distribution.
std::vector<double> squares(int nu, double scale, int count) {
  RandomStream random(61, "student", static_cast<std::uint64_t>(nu));
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const double z = scale * random.normal();
    double chi_square = 0;
    for (int k = 0; k < nu; ++k) {
      const double normal = random.normal();
      chi_square += normal * normal;
    }
    values.push_back(nu == 0 ? z * z : z * z * nu / chi_square);
  }
  return values;
}

// The limits are three standard errors. At 20000 samples these are, by the spread over 40 seeds,
// 0.07 (nu = 3) and 0.4 (nu = 10); with the scale free 0.09 and 0.7, and 1 % of the scale.
TEST(Student, RecoversTheDegreesOfFreedom) {
  EXPECT_NEAR(fit_degrees_of_freedom(squares(3, 1, 20000)), 3, 0.2);
  EXPECT_NEAR(fit_degrees_of_freedom(squares(10, 1, 20000)), 10, 1.2);
  EXPECT_GT(fit_degrees_of_freedom(squares(0, 1, 20000)), 60);
}

TEST(Student, RecoversTheScaleAsWell) {
  const StudentFit three = fit_student(squares(3, 0.01, 20000));
  EXPECT_NEAR(three.degrees_of_freedom, 3, 0.27);
  EXPECT_NEAR(three.scale, 0.01, 0.0003);
  const StudentFit ten = fit_student(squares(10, 50, 20000));
  EXPECT_NEAR(ten.degrees_of_freedom, 10, 2.1);
  EXPECT_NEAR(ten.scale, 50, 1.5);
  const StudentFit normal = fit_student(squares(0, 2, 20000));
  EXPECT_GT(normal.degrees_of_freedom, 30);
  EXPECT_NEAR(normal.scale, 2, 0.06);
}

// The fit is where both derivatives of the log-likelihood vanish.
TEST(Student, IsAMaximumOfTheLikelihood) {
  const std::vector<double> z2 = squares(5, 1.3, 500);
  const auto log_likelihood = [&](double nu, double scale) {
    double sum = 0;
    for (const double square : z2)
      sum += std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - 0.5 * std::log(nu * scale * scale) -
             0.5 * (nu + 1) * std::log1p(square / (nu * scale * scale));
    return sum;
  };
  const double nu = fit_degrees_of_freedom(z2);
  const StudentFit fit = fit_student(z2);
  for (const double factor : {0.97, 1.03}) {
    EXPECT_GT(log_likelihood(nu, 1), log_likelihood(factor * nu, 1));
    EXPECT_GT(log_likelihood(fit.degrees_of_freedom, fit.scale),
              log_likelihood(factor * fit.degrees_of_freedom, fit.scale));
    EXPECT_GT(log_likelihood(fit.degrees_of_freedom, fit.scale),
              log_likelihood(fit.degrees_of_freedom, factor * fit.scale));
  }
}

TEST(Student, KeepsToItsLimits) {
  EXPECT_EQ(fit_degrees_of_freedom({}), kMostDegreesOfFreedom);
  EXPECT_NEAR(fit_degrees_of_freedom(std::vector<double>(10, 0.0)), kMostDegreesOfFreedom, 1e-9);
  EXPECT_NEAR(fit_degrees_of_freedom(squares(1, 1, 1000)), kLeastDegreesOfFreedom, 1e-9);
  EXPECT_EQ(fit_student({}).scale, 1);
  EXPECT_EQ(fit_student(std::vector<double>(10, 0.0)).scale, 0);
  std::vector<double> mostly_zero(100, 0.0);
  mostly_zero[7] = 1;
  EXPECT_LT(fit_student(mostly_zero).scale, 1e-3);
}

TEST(Student, RefusesWhatIsNoSquare) {
  for (const double value : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> z2 = {1, value};
    EXPECT_THROW(fit_degrees_of_freedom(z2), DataError);
    EXPECT_THROW(fit_student(z2), DataError);
  }
}

TEST(Student, HasItsVarianceOrOneThatStandsForIt) {
  EXPECT_EQ(student_variance(3), 3);
  EXPECT_EQ(student_variance(4), 2);
  EXPECT_NEAR(student_variance(1e9), 1, 1e-8);
  // 95 % of t_2 are within 4.30265, of t_1 within 12.7062.
  EXPECT_NEAR(student_variance(2), std::pow(4.302653 / 1.959964, 2), 1e-3);
  EXPECT_NEAR(student_variance(1), std::pow(12.706205 / 1.959964, 2), 1e-2);
}

TEST(Student, CovarianceOfComponentsWithWeightsOfTheirOwn) {
  constexpr int nu = 6, kCount = 200000;
  const std::vector<double> R = {4, 3, 3, 9};
  RandomStream random(62, "covariance");
  double a2 = 0, b2 = 0, ab = 0;
  const auto shrink = [&] {
    double chi_square = 0;
    for (int k = 0; k < nu; ++k) chi_square += std::pow(random.normal(), 2);
    return std::sqrt(nu / chi_square);
  };
  for (int i = 0; i < kCount; ++i) {
    const double e = random.normal();
    const double a = 2 * e * shrink();
    const double b = (1.5 * e + std::sqrt(9 - 2.25) * random.normal()) * shrink();
    a2 += a * a / kCount;
    b2 += b * b / kCount;
    ab += a * b / kCount;
  }
  const std::vector<double> found = student_covariance(nu, R);
  EXPECT_NEAR(found[0] / a2, 1, 0.03);
  EXPECT_NEAR(found[3] / b2, 1, 0.03);
  EXPECT_NEAR(found[1] / ab, 1, 0.03);
  EXPECT_EQ(found[1], found[2]);
}

TEST(Student, EntropyIsTheMeanOfMinusTheLogDensity) {
  EXPECT_NEAR(student_entropy(1), std::log(4 * std::numbers::pi), 1e-12);
  EXPECT_NEAR(student_entropy(3), 1.7734775, 1e-6);
  EXPECT_NEAR(student_entropy(1e8), 0.5 * (1 + std::log(2 * std::numbers::pi)), 1e-7);
}

}  // namespace
}  // namespace kalmia::kalman
