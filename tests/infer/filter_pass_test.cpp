#include "infer/filter_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalman/classical/batch.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::infer {
namespace {

using kalman::row_at;
using test::Matrix;
using test::Vector;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr RequestedMoments kAll{true, true, true};

std::string piece_name(int piece) { return "piece " + std::to_string(piece); }

// A static model in its own units, and series of it.
class FilterPassTest : public testing::Test {
 protected:
  FilterPass pass(const std::vector<int>& lengths, std::uint64_t seed,
                  const RequestedMoments& wanted = kAll) {
    RandomStream random(seed, "pieces");
    y_.clear();
    for (const int steps : lengths) {
      std::vector<double>& y = y_.emplace_back();
      for (int i = 0; i < 2 * steps; ++i)
        y.push_back(random.uniform() < 0.2 ? std::nan("") : 80 * random.normal());
    }
    std::vector<SeriesView> pieces;
    for (const auto& y : y_) pieces.push_back({y.data(), static_cast<int>(y.size() / 2)});
    return run_pass(*model_, pieces, wanted, team_, piece_name);
  }
  std::vector<Vector> series(std::size_t s) const { return test::vectors(y_[s], 2); }

  static constexpr int kN = 4;
  const model::ModelDescription description_ = test::unscaled(test::motion_description(2));
  const std::unique_ptr<model::LearnedModel<float>> model_ =
      test::static_case(description_).make<float>();
  const reference::DenseSystem system_ = test::static_system(description_);
  ThreadTeam team_{2};
  std::vector<std::vector<double>> y_;
};

void expect_moments(const FilterPass& pass, const Moments& moments, int s,
                    const std::vector<reference::Gaussian>& expected) {
  const int N = pass.moments.state_dim;
  const auto size = static_cast<std::size_t>(N);
  ASSERT_EQ(pass.lengths[static_cast<std::size_t>(s)], static_cast<int>(expected.size()));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::string what = "series " + std::to_string(s) + ", step " + std::to_string(k);
    const auto step = static_cast<int>(k);
    test::expect_close({moments.mean.data() + row_at(pass.moments, s, step, N), size},
                       {expected[k].mean.data(), size}, 1e-9, what);
    test::expect_close(
        {moments.covariance.data() + row_at(pass.moments, s, step, N * N), size * size},
        {expected[k].cov.data(), size * size}, 1e-9, what);
  }
}

TEST_F(FilterPassTest, FilteredMomentsAreThoseOfTheJointPosterior) {
  const FilterPass found = pass({7, 0, 11, 1}, 71);
  EXPECT_EQ(found.moments.series, 4);
  EXPECT_EQ(found.moments.steps, 11);
  EXPECT_EQ(found.lengths, (std::vector<int>{7, 0, 11, 1}));
  for (const int s : {0, 2, 3}) {
    const std::vector<Vector> y = series(static_cast<std::size_t>(s));
    expect_moments(found, found.moments.filtered, s, reference::joint_filtered(system_, y));
    // The engine's nll is -2 log p without its constant.
    double measured = 0;
    for (const Vector& each : y)
      measured += static_cast<double>(reference::observed_components(each).size());
    const double nll = found.moments.log_likelihood[static_cast<std::size_t>(s)];
    EXPECT_NEAR(-0.5 * (nll + measured * std::log(2 * std::numbers::pi)),
                reference::joint_log_likelihood(system_, y), 1e-7);
  }
  EXPECT_EQ(found.moments.log_likelihood[1], 0);
}

TEST_F(FilterPassTest, SmoothedMomentsAreThoseOfTheJointPosterior) {
  FilterPass found = pass({7, 0, 12, 1, 3, 9, 9, 9, 12, 2}, 72);
  smooth_pass(found, team_, piece_name);
  for (const int s : {0, 2, 3, 4, 5, 6, 7, 8, 9})
    expect_moments(found, found.moments.smoothed, s,
                   reference::joint_smoothed(system_, series(static_cast<std::size_t>(s))));
}

TEST_F(FilterPassTest, OnlyWhatIsWantedIsKept) {
  const FilterPass filtered = pass({5}, 73, {false, true, false});
  EXPECT_TRUE(filtered.moments.predicted.mean.empty());
  EXPECT_EQ(filtered.moments.filtered.mean.size(), 5u * kN);
  EXPECT_TRUE(filtered.F.empty());
  const FilterPass predicted = pass({5}, 73, {true, false, false});
  EXPECT_TRUE(predicted.moments.filtered.mean.empty());
  EXPECT_EQ(predicted.moments.predicted.covariance.size(), 5u * kN * kN);
}

// 4 standard errors of the mean and of each covariance within a step and between neighbours.
TEST_F(FilterPassTest, SamplesHaveTheJointPosteriorsMoments) {
  constexpr int kSteps = 12, kCount = 4000, kSize = kSteps * kN;
  const FilterPass found = pass({3, kSteps}, 74);
  std::vector<RandomStream> random;
  for (std::uint64_t i = 0; i < kCount; ++i) random.emplace_back(75, "samples", i);
  std::vector<double> paths(static_cast<std::size_t>(kCount * kSize));
  sample_pass(found, 1, random, paths);
  const RowMatrix samples = Eigen::Map<const RowMatrix>(paths.data(), kCount, kSize);
  const Vector mean = samples.colwise().mean();
  const RowMatrix centred = samples.rowwise() - mean.transpose();
  const Matrix covariance = centred.transpose() * centred / (kCount - 1);

  const std::vector<reference::Gaussian> expected = reference::joint_smoothed(system_, series(1));
  const Matrix joint = test::joint_covariance(system_, series(1));
  for (int i = 0; i < kSize; ++i) {
    const auto k = static_cast<std::size_t>(i / kN);
    EXPECT_NEAR(joint(i, i), expected[k].cov(i % kN, i % kN), 1e-9 * joint(i, i));
    EXPECT_NEAR(mean(i), expected[k].mean(i % kN), 4 * std::sqrt(joint(i, i) / kCount))
        << "step " << k << ", state " << i % kN;
    for (int j = 0; j <= i; ++j) {
      if (j / kN < i / kN - 1) continue;
      const double error =
          std::sqrt((joint(i, i) * joint(j, j) + joint(i, j) * joint(i, j)) / kCount);
      EXPECT_NEAR(covariance(i, j), joint(i, j), 4 * error)
          << "states " << j % kN << " and " << i % kN << " of steps " << j / kN << " and " << k;
    }
  }
}

TEST_F(FilterPassTest, EachTrajectoryHasAStreamOfItsOwn) {
  const FilterPass found = pass({6, 0}, 76);
  const auto draw = [&](std::vector<std::uint64_t> indices) {
    std::vector<RandomStream> random;
    for (const std::uint64_t i : indices) random.emplace_back(77, "samples", i);
    std::vector<double> paths(indices.size() * 6 * kN);
    sample_pass(found, 0, random, paths);
    return paths;
  };
  const std::vector<double> both = draw({0, 1}), second = draw({1});
  EXPECT_TRUE(std::equal(second.begin(), second.end(), both.begin() + 6 * kN));
  EXPECT_NE(both[0], both[6 * kN]);
  std::vector<RandomStream> random;
  random.emplace_back(77, "samples");
  sample_pass(found, 1, random, {});  // a series without steps
}

TEST_F(FilterPassTest, ASmoothersFailureNamesThePiece) {
  FilterPass found = pass({9, 5, 12}, 78);
  double* P = found.moments.predicted.covariance.data() + row_at(found.moments, 1, 3, kN * kN);
  for (int i = 0; i < kN * kN; ++i) P[i] = -P[i];
  const std::string message =
      message_of<NumericalError>([&] { smooth_pass(found, team_, piece_name); });
  EXPECT_EQ(message, std::string("piece 1, step 4: ") + kalman::kSmootherFailure);
}

// Nothing measured tells that the map has run away.
TEST(FilterPass, APredictionThatRunsAwayInAGapIsAnError) {
  const auto model = test::lorenz_case().make<float>();
  std::vector<double> y(3 * 100, std::nan(""));
  y[0] = y[1] = y[2] = 1e6;
  const SeriesView pieces[] = {{y.data(), 0}, {y.data(), 100}};
  ThreadTeam team(1);
  const std::string message = message_of<NumericalError>([&] {
    run_pass(*model, pieces, {false, true, false}, team, piece_name);
  });
  EXPECT_EQ(message.rfind("piece 1, step ", 0), 0u) << message;
  EXPECT_NE(message.find("missing values is not finite"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia::infer
