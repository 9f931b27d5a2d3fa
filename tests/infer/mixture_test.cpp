#include "infer/mixture.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kDim = 3, kSteps = 4, kComponents = 5;

struct Component {
  std::vector<double> mean, covariance;
};

std::vector<Component> components() {
  std::vector<Component> all;
  RandomStream random(3, "components");
  for (int j = 0; j < kComponents; ++j) {
    Component& one = all.emplace_back();
    for (int k = 0; k < kSteps; ++k) {
      RowMatrix A(kDim, kDim);
      for (int i = 0; i < kDim * kDim; ++i) A.data()[i] = random.normal();
      const RowMatrix P = A * A.transpose();
      one.covariance.insert(one.covariance.end(), P.data(), P.data() + kDim * kDim);
      for (int i = 0; i < kDim; ++i) one.mean.push_back(10 + random.normal());
    }
  }
  return all;
}

TEST(Mixture, MomentsAreThoseOfTheMixture) {
  const std::vector<Component> all = components();
  std::vector<double> mean(kSteps * kDim), covariance(kSteps * kDim * kDim);
  for (int j = 0; j < kComponents; ++j)
    add_to_mixture(j + 1, kDim, all[static_cast<std::size_t>(j)].mean,
                   all[static_cast<std::size_t>(j)].covariance, mean, covariance);
  for (int k = 0; k < kSteps; ++k) {
    // E x and E x x' - E x E x', from raw moments.
    Eigen::VectorXd first = Eigen::VectorXd::Zero(kDim);
    RowMatrix second = RowMatrix::Zero(kDim, kDim);
    for (const Component& one : all) {
      const Eigen::Map<const Eigen::VectorXd> m(one.mean.data() + k * kDim, kDim);
      const Eigen::Map<const RowMatrix> P(one.covariance.data() + k * kDim * kDim, kDim, kDim);
      first += m / kComponents;
      second += (P + m * m.transpose()) / kComponents;
    }
    const RowMatrix expected = second - first * first.transpose();
    for (int i = 0; i < kDim; ++i) {
      EXPECT_NEAR(mean[static_cast<std::size_t>(k * kDim + i)], first(i), 1e-13);
      for (int j = 0; j < kDim; ++j)
        EXPECT_NEAR(covariance[static_cast<std::size_t>((k * kDim + i) * kDim + j)], expected(i, j),
                    1e-11);
    }
  }
}

TEST(Mixture, OneComponentIsItself) {
  const Component one = components()[0];
  std::vector<double> mean(one.mean.size(), NAN), covariance(one.covariance.size(), NAN);
  add_to_mixture(1, kDim, one.mean, one.covariance, mean, covariance);
  EXPECT_EQ(mean, one.mean);
  EXPECT_EQ(covariance, one.covariance);
  EXPECT_EQ(mixture_nll(std::vector<double>{12.5}), 12.5);
}

TEST(Mixture, AMeanOfWhatIsMissingIsMissing) {
  std::vector<double> mean(2);
  add_to_mean(1, std::vector<double>{1, NAN}, mean);
  add_to_mean(2, std::vector<double>{4, NAN}, mean);
  add_to_mean(3, std::vector<double>{4, NAN}, mean);
  EXPECT_DOUBLE_EQ(mean[0], 3);
  EXPECT_TRUE(std::isnan(mean[1]));
}

TEST(Mixture, DensitiesAreAveragedNotTheirLogarithms) {
  const std::vector<double> nll = {1.5, 4, -0.5};
  const double density = (std::exp(-0.75) + std::exp(-2.0) + std::exp(0.25)) / 3;
  EXPECT_NEAR(mixture_nll(nll), -2 * std::log(density), 1e-14);
  // Densities that no double holds.
  EXPECT_NEAR(mixture_nll(std::vector<double>{1e5, 1e5 + 2}),
              1e5 - 2 * std::log((1 + std::exp(-1.0)) / 2), 1e-9);
  EXPECT_NEAR(mixture_nll(std::vector<double>{-1e5, 1e5}), -1e5 - 2 * std::log(0.5), 1e-9);
}

}  // namespace
}  // namespace kalmia::infer
