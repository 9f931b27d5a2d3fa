#include <gtest/gtest.h>

#include <cstring>

#include "kalman/classical/batch.hpp"
#include "train/fusion_cases.hpp"
#include "train/fusion_feed.hpp"

namespace kalmia::train {
namespace {

// The predictions are those of the filter that reads these measurements.
void expect_filtered(FusionFixture& f, const FusionData& data) {
  std::vector<infer::SeriesView> pieces;
  for (const infer::FusionView& each : data.views()) pieces.push_back({each.y, each.steps});
  const infer::FilterPass pass = infer::run_pass(*f.model, pieces, {.predicted = true}, f.team,
                                                 [](int) { return std::string(); });
  const FilterResult& r = pass.moments;
  const auto N = static_cast<std::size_t>(f.model->state_dim());
  for (int i = 0; i < data.count(); ++i) {
    const infer::FusionView piece = data.view(i);
    const auto bytes = static_cast<std::size_t>(piece.steps) * N * sizeof(double);
    EXPECT_EQ(
        std::memcmp(piece.x_pred,
                    r.predicted.mean.data() + kalman::row_at(r, i, 0, static_cast<int>(N)), bytes),
        0)
        << i;
    EXPECT_EQ(std::memcmp(
                  piece.P_pred,
                  r.predicted.covariance.data() + kalman::row_at(r, i, 0, static_cast<int>(N * N)),
                  bytes * N),
              0)
        << i;
  }
}

TEST(FusionData, HoldsTheStretchesWithTheFiltersPredictions) {
  FusionFixture f(dataset_of({local_level(300, 1, 1, 3), local_level(80, 1, 1, 4)}));
  const std::vector<StepRange> stretches = {{0, 10, 250}, {1, 0, 80}, {0, 260, 261}};
  const FusionData data = f.data(stretches);
  ASSERT_EQ(data.count(), 3);
  EXPECT_EQ(data.steps(), 240 + 80 + 1);
  for (int i = 0; i < 3; ++i) {
    const StepRange& given = stretches[static_cast<std::size_t>(i)];
    EXPECT_EQ(data.stretch(i).series, given.series);
    EXPECT_EQ(data.stretch(i).begin, given.begin);
    EXPECT_EQ(data.given_index(i), static_cast<std::size_t>(i));
    const infer::FusionView piece = data.view(i);
    ASSERT_EQ(piece.steps, given.steps());
    for (int k = 0; k < piece.steps; ++k)
      ASSERT_EQ(piece.y[k], *f.c.scaled.at(given.series, given.begin + k));
  }
  expect_filtered(f, data);
}

TEST(FusionData, GapsAreHiddenFromTheFilterToo) {
  FusionFixture f(dataset_of({local_level(20000, 1, 1, 3), local_level(20000, 1, 1, 4)}));
  const std::vector<StepRange> all = f.c.everything();
  const FusionData data = f.data(all, 0.1, 5), same = f.data(all, 0.1, 5),
                   other = f.data(all, 0.1, 6);
  int hidden = 0, shared = 0, as_same = 0, as_other = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 20000; ++k) {
      const double y = data.view(i).y[k];
      const bool gap = std::isnan(y);
      if (!gap) {
        ASSERT_EQ(y, *f.c.scaled.at(i, k));
      }
      ASSERT_FALSE(std::isnan(*f.c.scaled.at(i, k)));  // the data themselves stay whole
      hidden += gap;
      as_same += gap == std::isnan(same.view(i).y[k]);
      as_other += gap == std::isnan(other.view(i).y[k]);
      shared += i == 0 && gap == std::isnan(data.view(1).y[k]);
    }
  EXPECT_NEAR(hidden, 4000, 800);
  EXPECT_EQ(as_same, 40000);
  EXPECT_LT(as_other, 36000);
  EXPECT_LT(shared, 18000);  // each stretch has its own
  expect_filtered(f, data);
}

TEST(FusionData, LongDataAreThinnedOutByWholeStretches) {
  constexpr int kSteps = 150000;
  FusionFixture f(dataset_of({local_level(kSteps, 1, 1, 7)}));
  std::vector<StepRange> stretches;
  for (int i = 0; i < 5; ++i) stretches.push_back({0, i, kSteps});
  ASSERT_GT(5 * kSteps, kMostFusionSteps);
  const FusionData data = f.data(stretches);
  ASSERT_EQ(data.count(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(data.stretch(i).begin, 2 * i);
    EXPECT_EQ(data.given_index(i), static_cast<std::size_t>(2 * i));
  }
  EXPECT_LE(data.steps(), kMostFusionSteps);
}

}  // namespace
}  // namespace kalmia::train
