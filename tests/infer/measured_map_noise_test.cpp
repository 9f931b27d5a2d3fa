#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "infer/infer_cases.hpp"
#include "infer/measured_map.hpp"

namespace kalmia::infer {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> noise_of(const test::LearnedCase& made, const double* y_std = nullptr) {
  std::vector<double> R(4);
  MeasurementNoise(test::public_model(made)).at(y_std, R.data());
  return R;
}

TEST(MeasurementNoise, IsTheModelsInTheUsersUnits) {
  const test::LearnedCase made = test::static_case(2);
  EXPECT_EQ(noise_of(made), test::public_model(made).noise());
  EXPECT_EQ(noise_of(made)[0], 1600 * 0.0625);
}

// A value whose own deviation is s has R (s / that which R stands for)^2, as in the filter.
TEST(MeasurementNoise, FollowsTheNoiseOfEachValue) {
  test::LearnedCase made = test::static_case(2);
  const std::vector<double> usual = noise_of(made);
  const double y_std[] = {3, 5};
  // Of a model that was not fitted to such data R itself says what it stands for.
  const std::vector<double> own = noise_of(made, y_std);
  EXPECT_NEAR(own[0], 9, 1e-12);
  EXPECT_NEAR(own[3], 25, 1e-12);
  EXPECT_NEAR(own[1], 15 * usual[1] / std::sqrt(usual[0] * usual[3]), 1e-12);
  made.description.noise_std = {2, 4};
  const std::vector<double> stated = noise_of(made, y_std);
  EXPECT_NEAR(stated[0], usual[0] * 9 / 4, 1e-12);
  EXPECT_NEAR(stated[3], usual[3] * 25 / 16, 1e-12);
  // What stands beside a missing value is no deviation.
  for (const double none : {kNan, 0.0, -1.0}) {
    const double some[] = {none, 5};
    EXPECT_EQ(noise_of(made, some)[0], usual[0]);
    EXPECT_NEAR(noise_of(made, some)[3], usual[3] * 25 / 16, 1e-12);
  }
}

TEST(MeasurementNoise, TailsWidenItsBars) {
  test::LearnedCase made = test::static_case(2);
  const std::vector<double> normal = noise_of(made);
  made.description.tails = 4;
  const std::vector<double> wide = noise_of(made);
  EXPECT_EQ(wide, test::public_model(made).noise());
  for (const std::size_t i : {0, 3}) EXPECT_DOUBLE_EQ(wide[i], 2 * normal[i]);
  // A value's own deviation is that of the core of the noise, as R is.
  const double y_std[] = {3, 5};
  EXPECT_NEAR(noise_of(made, y_std)[0], 2 * 9, 1e-12);
}

}  // namespace
}  // namespace kalmia::infer
