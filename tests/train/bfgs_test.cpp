#include "train/bfgs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

double rosenbrock(std::span<const double> x, std::span<double> g) {
  const double a = 1 - x[0], b = x[1] - x[0] * x[0];
  g[0] = -2 * a - 400 * x[0] * b;
  g[1] = 200 * b;
  return a * a + 100 * b * b;
}

TEST(Bfgs, QuadraticOfPoorCondition) {
  const std::vector<double> weight = {1, 10, 100, 1000, 1e4};
  const Objective quadratic = [&](std::span<const double> x, std::span<double> g) {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = x[i] - static_cast<double>(i);
      value += 0.5 * weight[i] * off * off;
      g[i] = weight[i] * off;
    }
    return value;
  };
  std::vector<double> x(5, 3.0);
  const BfgsResult result = minimise_bfgs(quadratic, x);
  EXPECT_TRUE(result.converged);
  EXPECT_FALSE(result.interrupted);
  EXPECT_LT(result.iterations, 60);
  EXPECT_GE(result.evaluations, result.iterations);
  EXPECT_LT(result.value, 1e-8);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(x[i], static_cast<double>(i), 1e-4);
}

// With what one search learned the next takes a step of Newton's.
TEST(Bfgs, GoesOnFromWhatItLearnedOfTheCurvature) {
  const std::vector<double> weight = {1, 10, 100, 1000, 1e4};
  const Objective quadratic = [&](std::span<const double> x, std::span<double> g) {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      value += 0.5 * weight[i] * x[i] * x[i];
      g[i] = weight[i] * x[i];
    }
    return value;
  };
  std::vector<double> x(5, 3.0), plain = {1, -2, 3, -4, 5};
  BfgsMemory memory;
  minimise_bfgs(quadratic, x, {}, {}, &memory);
  ASSERT_EQ(memory.inverse.size(), 25u);
  std::vector<double> again = plain;
  const int with = minimise_bfgs(quadratic, again, {}, {}, &memory).iterations;
  EXPECT_LT(with, minimise_bfgs(quadratic, plain).iterations / 2);
  EXPECT_LT(with, 8);
  // One of another size counts as none.
  std::vector<double> single = {2.0};
  EXPECT_TRUE(minimise_bfgs(
                  [](std::span<const double> at, std::span<double> g) {
                    g[0] = 2 * at[0];
                    return at[0] * at[0];
                  },
                  single, {}, {}, &memory)
                  .converged);
  EXPECT_EQ(memory.inverse.size(), 1u);
}

// Over their sizes, variables of any unit make the same search.
TEST(Bfgs, SizesMakeUnitsNoMatter) {
  const std::vector<double> sizes = {1e-5, 4096};  // the second a power of two
  const Objective in_units = [&](std::span<const double> x, std::span<double> g) {
    const double at[] = {x[0] / sizes[0], x[1] / sizes[1]};
    const double value = rosenbrock(at, g);
    for (std::size_t i = 0; i < 2; ++i) g[i] /= sizes[i];
    return value;
  };
  std::vector<double> plain = {-1.2, 1}, x = {-1.2 * sizes[0], sizes[1]};
  const BfgsResult expected = minimise_bfgs(rosenbrock, plain);
  BfgsOptions options;
  options.sizes = sizes;
  const BfgsResult result = minimise_bfgs(in_units, x, options);
  EXPECT_EQ(result.iterations, expected.iterations);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(x[i] / sizes[i], plain[i], 1e-6);
  // Without them it is another.
  std::vector<double> other = {-1.2 * sizes[0], sizes[1]};
  EXPECT_NE(minimise_bfgs(in_units, other).evaluations, expected.evaluations);
}

TEST(Bfgs, Rosenbrock) {
  std::vector<double> x = {-1.2, 1};
  const BfgsResult result = minimise_bfgs(rosenbrock, x);
  EXPECT_TRUE(result.converged);
  EXPECT_LT(result.iterations, 60);
  EXPECT_NEAR(x[0], 1, 1e-5);
  EXPECT_NEAR(x[1], 1, 1e-5);
}

// x - a log x, not a number beyond the wall at 0: the first steps overshoot it.
TEST(Bfgs, StaysOnItsSideOfAWall) {
  for (const double a : {1e-3, 0.5, 30.0}) {
    const Objective barrier = [&](std::span<const double> x, std::span<double> g) {
      g[0] = 1 - a / x[0];
      return x[0] - a * std::log(x[0]);
    };
    std::vector<double> x = {1};
    EXPECT_TRUE(minimise_bfgs(barrier, x).converged);
    EXPECT_NEAR(x[0] / a, 1, 1e-3) << a;
  }
}

// The first step of length 1 lands in the trap.
TEST(Bfgs, ValuesWithGradientsThatAreNotFiniteAreNoPlacesToGo) {
  const Objective trap = [](std::span<const double> x, std::span<double> g) {
    const bool trapped = x[0] < 9.1;
    g[0] = trapped ? std::nan("") : 20 * (x[0] - 9.3);
    return trapped ? -1e9 : 10 * (x[0] - 9.3) * (x[0] - 9.3);
  };
  std::vector<double> x = {10};
  minimise_bfgs(trap, x);
  EXPECT_NEAR(x[0], 9.3, 1e-5);
}

TEST(Bfgs, NotFiniteAtTheStart) {
  for (const double start : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> x = {1};
    const Objective none = [&](std::span<const double>, std::span<double>) { return start; };
    EXPECT_THROW(minimise_bfgs(none, x), NumericalError);
  }
}

TEST(Bfgs, InterruptedItReturnsTheBestPointSoFar) {
  std::vector<double> x = {-1.2, 1};
  std::vector<double> values;
  const BfgsResult result = minimise_bfgs(rosenbrock, x, {}, [&](int iteration, double value) {
    EXPECT_EQ(iteration, static_cast<int>(values.size()) + 1);
    values.push_back(value);
    return iteration < 5;
  });
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 5);
  ASSERT_EQ(values.size(), 5u);
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(values[i], values[i - 1]);
  std::vector<double> g(2);
  EXPECT_EQ(rosenbrock(x, g), result.value);
  EXPECT_EQ(result.value, values.back());
}

TEST(Bfgs, NumberOfIterationsIsLimited) {
  std::vector<double> x = {-1.2, 1};
  BfgsOptions options;
  options.max_iterations = 3;
  const BfgsResult result = minimise_bfgs(rosenbrock, x, options);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_FALSE(result.converged);
}

TEST(Bfgs, NoVariables) {
  std::vector<double> x;
  const BfgsResult result =
      minimise_bfgs([](std::span<const double>, std::span<double>) { return 7.0; }, x);
  EXPECT_EQ(result.value, 7);
  EXPECT_TRUE(result.converged);
}

TEST(Bfgs, AlreadyAtTheMinimum) {
  std::vector<double> x = {1, 1};
  const BfgsResult result = minimise_bfgs(rosenbrock, x);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(result.evaluations, 1);
  EXPECT_EQ(x, (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace kalmia::train
