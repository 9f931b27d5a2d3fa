#include "train/averaged_adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kalmia::train {
namespace {

template <typename T>
class AveragedAdamOf : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(AveragedAdamOf, Precisions);

template <typename T>
std::vector<T> values(std::span<T> span) {
  return {span.begin(), span.end()};
}

TYPED_TEST(AveragedAdamOf, ConstantParametersAreTheirOwnAverage) {
  using T = TypeParam;
  const std::vector<T> start = {T(1.5), T(-2), T(0)};
  AveragedAdam<T> adam(start, {});
  EXPECT_EQ(adam.average(), start);
  EXPECT_EQ(adam.best(), start);
  for (int i = 0; i < 1000; ++i) adam.add_to_average();
  EXPECT_EQ(adam.average(), start);
}

// What is left of the start after n updates of constant parameters: little soon, and in the long
// run a share 1 / kAveraged less with each.
TYPED_TEST(AveragedAdamOf, ForgetsTheStartSoonAndLaterOverItsSpan) {
  using T = TypeParam;
  AveragedAdam<T> adam(std::vector<T>{T(1)}, {});
  adam.parameters()[0] = 0;
  for (int i = 0; i < 100; ++i) adam.add_to_average();
  EXPECT_GT(adam.average()[0], 0);
  EXPECT_LT(adam.average()[0], 1e-4);
  for (int i = 0; i < 2000; ++i) adam.add_to_average();
  const double before = static_cast<double>(adam.average()[0]);
  adam.parameters()[0] = 1;
  constexpr double kSpan = AveragedAdam<T>::kAveraged;
  for (int i = 0; i < static_cast<int>(kSpan); ++i) adam.add_to_average();
  const double left = std::pow(1 - 1 / kSpan, kSpan);
  EXPECT_NEAR(static_cast<double>(adam.average()[0]), 1 - left * (1 - before), 1e-5);
}

TYPED_TEST(AveragedAdamOf, GoesBackToTheBestAndStartsAfresh) {
  using T = TypeParam;
  nn::AdamOptions options;
  options.learning_rate = 0.1;
  AveragedAdam<T> adam(std::vector<T>{T(1), T(2)}, options);
  const auto step = [](AveragedAdam<T>& which, T a, T b) {
    which.gradient()[0] = a;
    which.gradient()[1] = b;
    EXPECT_TRUE(which.step(0.5));
    which.add_to_average();
  };
  for (int i = 0; i < 5; ++i) step(adam, T(0.5), T(-0.25));
  adam.keep();
  const std::vector<T> kept = adam.average();
  EXPECT_EQ(adam.best(), kept);
  EXPECT_NE(kept, values(adam.parameters()));
  for (int i = 0; i < 5; ++i) step(adam, T(-3), T(1));
  EXPECT_EQ(adam.best(), kept);
  EXPECT_NE(adam.average(), kept);

  adam.go_back();
  EXPECT_EQ(values(adam.parameters()), kept);
  EXPECT_EQ(adam.average(), kept);
  // From here on it does what one that starts there does, moments and average included.
  AveragedAdam<T> other(kept, options);
  for (int i = 0; i < 3; ++i) {
    step(adam, T(0.125), T(2));
    step(other, T(0.125), T(2));
    EXPECT_EQ(values(adam.parameters()), values(other.parameters()));
    EXPECT_EQ(adam.average(), other.average());
  }
}

TYPED_TEST(AveragedAdamOf, AGradientThatIsNotFiniteChangesNothing) {
  using T = TypeParam;
  const std::vector<T> start = {T(1), T(2)};
  AveragedAdam<T> adam(start, {});
  adam.gradient()[0] = 1;
  adam.gradient()[1] = std::numeric_limits<T>::quiet_NaN();
  EXPECT_FALSE(adam.step(1));
  EXPECT_EQ(values(adam.parameters()), start);
  adam.gradient()[1] = 1;
  EXPECT_TRUE(adam.step(1));
  EXPECT_NE(values(adam.parameters()), start);
}

}  // namespace
}  // namespace kalmia::train
