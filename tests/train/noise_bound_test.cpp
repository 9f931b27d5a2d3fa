#include "train/noise_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "kalman/student.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

double noise_bound(const model::NoiseSpec& noise, double tails, const Dataset& data,
                   const std::vector<HeldOut>& held_out) {
  return find_noise_bound(noise, tails, data, held_out).loss;
}

TEST(NoiseBound, IsTheLossOfTheNoiseItself) {
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = 6;
  series.y = {1, 2, 1, 2, 1, kMissing, 1, kMissing, kMissing, kMissing, kMissing, 2};
  const model::NoiseSpec noise{model::NoiseSpec::Kind::Given, {4, 1, 1, 9}};
  const double one = 0.5 * (1 + std::log(2 * std::numbers::pi));
  EXPECT_NEAR(noise_bound(noise, 0, data, {{{0, 0, 2}, 0}}), one + 0.25 * std::log(35), 1e-12);
  // Steps before the first that counts do not, and each channel counts where it is measured.
  EXPECT_NEAR(noise_bound(noise, 0, data, {{{0, 0, 6}, 1}}),
              one + (0.5 * std::log(35) + 2 * std::log(2) + std::log(3)) / 5, 1e-12);
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(noise_bound(noise, 0, data, {}), none);
  EXPECT_EQ(noise_bound(noise, 0, data, {{{0, 4, 5}, 4}}), none);
  EXPECT_EQ(noise_bound({}, 0, data, {{{0, 0, 2}, 0}}), none);
}

TEST(NoiseBound, OfStudentNoiseIsItsEntropy) {
  const Dataset data = dataset_of({{1, 2, 3}});
  const model::NoiseSpec noise{model::NoiseSpec::Kind::Given, {25}};
  const double bound = noise_bound(noise, 3, data, {{{0, 0, 3}, 0}});
  EXPECT_NEAR(bound, kalman::student_entropy(3) + std::log(5), 1e-12);
  EXPECT_GT(bound, noise_bound(noise, 0, data, {{{0, 0, 3}, 0}}));
}

TEST(NoiseBound, BelowItOnlyWhereItIsClear) {
  NoiseBound bound{1, 100000};
  EXPECT_FALSE(bound.is_beaten_by(1.5));
  EXPECT_FALSE(bound.is_beaten_by(0.99));
  EXPECT_TRUE(bound.is_beaten_by(0.97));
  // So few values may have been lucky.
  bound.held_out_steps = 50;
  EXPECT_FALSE(bound.is_beaten_by(0.85));
  EXPECT_TRUE(bound.is_beaten_by(0.7));
  bound.loss = -std::numeric_limits<double>::infinity();
  EXPECT_FALSE(bound.is_beaten_by(-1e9));
  bound.loss = 1;
  EXPECT_FALSE(bound.is_beaten_by(std::nan("")));
}

TEST(NoiseBound, CountsTheStepsThatCount) {
  const Dataset data = dataset_of({{1, 2, 3, 4, 5}});
  EXPECT_EQ(find_noise_bound({}, 0, data, {{{0, 0, 3}, 1}, {{0, 3, 5}, 3}}).held_out_steps, 4u);
}

}  // namespace
}  // namespace kalmia::train
