#include "train/fusion_feed.hpp"

#include <gtest/gtest.h>

#include <map>

#include "train/fusion_cases.hpp"

namespace kalmia::train {
namespace {

// One lane of the window that the feed holds.
struct Lane {
  const heads::FusionGroup<float>& group;
  int lane;

  int length() const { return group.length[static_cast<std::size_t>(lane)]; }
  bool fresh() const { return group.fresh[static_cast<std::size_t>(lane)] != 0; }
  double at(const auto& panel, int k, int rows = 1, int row = 0) const {
    return static_cast<double>(
        panel[static_cast<std::size_t>((k * rows + row) * group.lanes + lane)]);
  }
};

std::vector<Lane> lanes_of(FusionFeed& feed) {
  std::vector<Lane> lanes;
  for (const auto& group : feed.groups())
    for (int lane = 0; lane < group.lanes; ++lane) lanes.push_back({group, lane});
  return lanes;
}

int number(const FusionFixture& f, double y) { return static_cast<int>(std::lround(f.user(y))); }

TEST(FusionFeed, DeliversEveryTrainingStepAndNoOther) {
  const std::vector<int> lengths = {700, 1, 0, 2, 333, 40};
  FusionFixture f(numbered(lengths));
  const Split split = split_data(lengths, 0.3, 1);
  const FusionData data = f.data(split.training);
  for (const int batch : {1, 16, 40, 128}) {
    FusionFeed feed(*f.model, f.c.scaled, data, 8, batch);
    EXPECT_LE(feed.lanes(), std::max(batch, lanes::kLaneQuantum) + engine::kGroupLanes);
    std::map<int, int> seen;
    for (int window = 0; window < 300; ++window) {
      const Measured measured = feed.next(f.team);
      int steps = 0;
      for (const Lane& lane : lanes_of(feed))
        for (int k = 0; k < lane.length(); ++k, ++steps)
          ++seen[number(f, lane.at(lane.group.y, k))];
      EXPECT_EQ(feed.steps(), steps);
      EXPECT_EQ(measured.values, steps);
    }
    for (const StepRange& each : split.training)
      for (int k = each.begin; k < each.end; ++k)
        EXPECT_EQ(seen.erase(10000 * (each.series + 1) + k), 1u) << each.series << " " << k;
    EXPECT_TRUE(seen.empty()) << "delivered " << seen.begin()->first;
  }
}

// The features, the centre and the predictions of each step: the future's and the filter's.
void expect_step(const FusionFixture& f, const FusionData& data, const Lane& lane, int i,
                 bool knows_the_future) {
  const int value = number(f, lane.at(lane.group.y, i));
  const int series = value / 10000 - 1, k = value % 10000;
  int p = 0;
  while (data.stretch(p).series != series) ++p;
  const infer::FusionView piece = data.view(p);
  EXPECT_EQ(lane.at(lane.group.observed, i), 1);
  EXPECT_EQ(lane.at(lane.group.prior_x, i), piece.x_pred[k]);
  EXPECT_EQ(lane.at(lane.group.prior_P, i), piece.P_pred[k]);
  if (k + 1 >= piece.steps) return;
  // y[k+1], not y[k].
  EXPECT_EQ(lane.at(lane.group.centre, i), piece.y[k + 1]) << value;
  const model::FeatureSpec& features = f.model->description().features;
  const int rows = features.channel_features();
  const bool has_two = knows_the_future && k + 2 < piece.steps;
  EXPECT_FLOAT_EQ(
      static_cast<float>(lane.at(lane.group.input_fwd, i, rows, 0)),
      has_two ? static_cast<float>((piece.y[k + 1] - piece.y[k + 2]) / features.step[0]) : 0.0f)
      << value;
  EXPECT_EQ(lane.at(lane.group.input_fwd, i, rows, rows - 1), 1);  // measured
}

TEST(FusionFeed, LanesWalkBackwardsAndStartAfreshAtTheEndOfAStretch) {
  FusionFixture f(numbered({500, 130, 3, 90}));
  const FusionData data = f.data(f.c.everything());
  ThreadTeam two(2);
  FusionFeed feed(*f.model, f.c.scaled, data, 16, 64), other(*f.model, f.c.scaled, data, 16, 64);
  std::vector<int> next(static_cast<std::size_t>(feed.lanes()), -1);
  int starts = 0;
  for (int window = 0; window < 100; ++window) {
    feed.next(f.team);
    other.next(two);
    const std::vector<Lane> lanes = lanes_of(feed), others = lanes_of(other);
    for (std::size_t n = 0; n < lanes.size(); ++n) {
      ASSERT_GT(lanes[n].length(), 0);
      const int first = number(f, lanes[n].at(lanes[n].group.y, 0));
      EXPECT_EQ(first, number(f, others[n].at(others[n].group.y, 0)));  // threads
      if (lanes[n].fresh()) {
        ++starts;
        const int series = first / 10000 - 1;
        EXPECT_TRUE(window == 0 || first % 10000 == data.stretch(series).end - 1) << first;
      } else {
        EXPECT_EQ(first, next[n]);
      }
      for (int i = 0; i < lanes[n].length(); ++i) {
        EXPECT_EQ(number(f, lanes[n].at(lanes[n].group.y, i)), first - i);
        expect_step(f, data, lanes[n], i, !lanes[n].fresh() || i > 0);
      }
      next[n] = first - lanes[n].length();
    }
  }
  EXPECT_GT(starts, 2 * feed.lanes());
}

TEST(FusionFeed, LanesAreSpreadOverTheData) {
  FusionFixture f(numbered({3200}));
  const FusionData data = f.data(f.c.everything());
  FusionFeed feed(*f.model, f.c.scaled, data, 32, 32);
  ASSERT_EQ(feed.lanes(), 32);
  feed.next(f.team);
  int expected = 10099;
  for (const Lane& lane : lanes_of(feed)) {
    EXPECT_TRUE(lane.fresh());
    EXPECT_EQ(number(f, lane.at(lane.group.y, 0)), expected);
    expected += 100;
  }
}

TEST(FusionFeed, RestartsWhereItStands) {
  FusionFixture f(numbered({500, 130, 3, 90}));
  const FusionData data = f.data(f.c.everything());
  // Windows of one step: some lane stands on the first step of a stretch each time.
  for (const int window : {16, 1}) {
    FusionFeed feed(*f.model, f.c.scaled, data, window, 64),
        straight(*f.model, f.c.scaled, data, window, 64);
    for (int i = 0; i < 40; ++i) {
      feed.next(f.team);
      straight.next(f.team);
      const std::vector<Lane> lanes = lanes_of(feed), others = lanes_of(straight);
      for (std::size_t n = 0; n < lanes.size(); ++n) {
        EXPECT_EQ(lanes[n].length(), others[n].length());
        EXPECT_EQ(number(f, lanes[n].at(lanes[n].group.y, 0)),
                  number(f, others[n].at(others[n].group.y, 0)));
        EXPECT_TRUE(lanes[n].fresh());
        expect_step(f, data, lanes[n], 0, false);
      }
      feed.restart();
    }
  }
}

}  // namespace
}  // namespace kalmia::train
