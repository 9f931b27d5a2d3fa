#include "infer/refine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "infer/student_weights.hpp"
#include "kalman/classical_batch.hpp"

namespace kalmia::infer {
namespace {

using kalman::row_at;

constexpr Wanted kAll{true, true, true};

std::string name(int) { return "a piece"; }

// Two channels of constant velocity in their own units; one value is far out, one is missing.
class RefineTest : public testing::Test {
 protected:
  explicit RefineTest(double tails = 4) {
    model::ModelDescription description = test::unscaled(test::motion_description(2));
    description.tails = tails;
    model_ = test::static_case(description).make<float>();
    RandomStream random(61, "refine");
    for (int i = 0; i < 2 * kSteps; ++i) y_.push_back(30 * random.normal());
    y_[kOutlier] += 2000;
    y_[kMissing] = std::nan("");
    pieces_ = {{y_.data(), kSteps}};
  }
  FilterPass smoothed() {
    FilterPass pass = run_pass(*model_, pieces_, kAll, team_, name);
    smooth_pass(pass, team_, name);
    return pass;
  }

  static constexpr int kSteps = 40;
  static constexpr std::size_t kOutlier = 41, kMissing = 14;
  std::unique_ptr<model::LearnedModel<float>> model_;
  std::vector<double> y_;
  std::vector<Piece> pieces_;
  ThreadTeam team_{1};
};

class RefineGaussianTest : public RefineTest {
 protected:
  RefineGaussianTest() : RefineTest(0) {}
};

TEST_F(RefineTest, WeightsAreThoseOfTheSmoothedResiduals) {
  const FilterPass pass = smoothed();
  const std::vector<double> weights = student_weights(*model_, pieces_, pass);
  ASSERT_EQ(weights.size(), y_.size());
  const std::vector<double>& R = model_->emission().R();
  for (std::size_t i = 0; i < y_.size(); ++i) {
    const std::size_t k = i / 2, m = i % 2;
    if (i == kMissing) {
      EXPECT_EQ(weights[i], 1);
      continue;
    }
    // Positions are the states 0 and 2.
    const double e = y_[i] - pass.moments.smoothed.mean[4 * k + 2 * m];
    const double v = pass.moments.smoothed.covariance[16 * k + 10 * m];
    EXPECT_NEAR(weights[i], 5 / (4 + (e * e + v) / R[3 * m]), 1e-12) << i;
  }
  EXPECT_LT(weights[kOutlier], 0.01);
}

TEST_F(RefineTest, StatedNoiseIsPartOfTheWeights) {
  const std::vector<double> stated(y_.size(), 4.0);
  const FilterPass pass = smoothed();
  const std::vector<double> plain = student_weights(*model_, pieces_, pass);
  pieces_[0].weight = stated.data();
  const std::vector<double> weights = student_weights(*model_, pieces_, pass);
  const std::size_t i = 20;
  // 5 w0 / (4 + w0 q) with q from 5 / (4 + q).
  const double q = 5 / plain[i] - 4;
  EXPECT_NEAR(weights[i], 5 * 4 / (4 + 4 * q), 1e-12);
}

// With the weights given, a pass is that of Gaussian noise R / w.
TEST_F(RefineTest, GivenWeightsAreNotWeighedAgain) {
  const std::vector<double> ones(y_.size(), 1.0);
  pieces_[0].weight = ones.data();
  RunSettings settings;
  settings.weights_given = true;
  const FilterPass given = run_pass(*model_, pieces_, kAll, team_, name, settings);
  model::ModelDescription gaussian = model_->description();
  gaussian.tails = 0;
  const auto plain = test::static_case(gaussian).make<float>();
  const FilterPass expected = run_pass(*plain, pieces_, kAll, team_, name);
  for (std::size_t i = 0; i < given.moments.filtered.mean.size(); ++i)
    EXPECT_EQ(given.moments.filtered.mean[i], expected.moments.filtered.mean[i]) << i;
  const FilterPass robust = run_pass(*model_, pieces_, kAll, team_, name);
  EXPECT_GT(std::abs(robust.moments.filtered.mean[4 * 20 + 2] -
                     expected.moments.filtered.mean[4 * 20 + 2]),
            10);
}

TEST_F(RefineTest, RefiningASmoothedPassSettlesItsWeights) {
  FilterPass pass = smoothed();
  const std::vector<double> first = student_weights(*model_, pieces_, pass);
  refine_pass(*model_, pieces_, pass, {}, team_, name);
  const std::vector<double> second = student_weights(*model_, pieces_, pass);
  refine_pass(*model_, pieces_, pass, {}, team_, name);
  const std::vector<double> third = student_weights(*model_, pieces_, pass);
  double change = 0, further = 0;
  for (std::size_t i = 0; i < y_.size(); ++i) {
    change = std::max(change, std::abs(second[i] - first[i]));
    further = std::max(further, std::abs(third[i] - second[i]));
  }
  EXPECT_GT(change, 0);
  EXPECT_LT(further, 0.5 * change);
}

TEST_F(RefineGaussianTest, WithoutAnythingToRefineNothingChanges) {
  FilterPass pass = smoothed();
  const std::vector<double> before(pass.moments.smoothed.mean.begin(),
                                   pass.moments.smoothed.mean.end());
  EXPECT_TRUE(std::isnan(refine_pass(*model_, pieces_, pass, {}, team_, name)));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), pass.moments.smoothed.mean.begin()));
}

TEST_F(RefineGaussianTest, ASeriesWithoutStepsIsNoProblem) {
  pieces_[0].steps = 0;
  FilterPass pass = smoothed();
  refine_pass(*model_, pieces_, pass, {5, 0.1}, team_, name);
  EXPECT_TRUE(pass.moments.smoothed.mean.empty());
}

// Of a linear map: as if the model had that much process noise.
TEST_F(RefineGaussianTest, ProcessNoiseIsAShareOfTheModels) {
  RunSettings quarter;
  quarter.process_noise = 0.25;
  const FilterPass pass = run_pass(*model_, pieces_, kAll, team_, name, quarter);
  const FilterPass whole = run_pass(*model_, pieces_, kAll, team_, name);
  // P[1|<1] = F P[0|<=0] F' + q Q, and the first step has none of it.
  for (std::size_t n = 0; n < 16; ++n)
    EXPECT_EQ(pass.moments.filtered.covariance[n], whole.moments.filtered.covariance[n]);
  const auto difference = [&](const FilterPass& of, std::size_t n) {
    double sum = of.moments.predicted.covariance[16 + n];
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        sum -= of.F[16 + n / 4 * 4 + i] * of.moments.filtered.covariance[4 * i + j] *
               of.F[16 + n % 4 * 4 + j];
    return sum;
  };
  for (std::size_t n = 0; n < 16; ++n)
    EXPECT_NEAR(difference(pass, n), 0.25 * difference(whole, n), 1e-6);
  EXPECT_GT(difference(whole, 0), 1);
}

}  // namespace
}  // namespace kalmia::infer
