#include "train/lane_feed.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "train/smoother_start.hpp"
#include "train/static_stage.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A value tells which step of which series it is.
Dataset numbered(const std::vector<int>& lengths, int channels = 1) {
  Dataset data;
  for (int m = 0; m < channels; ++m) data.y_names.push_back(m == 0 ? "first" : "second");
  for (const int steps : lengths) {
    const double first = 10000.0 * static_cast<double>(data.series.size() + 1);
    Series& series = data.series.emplace_back();
    series.steps = steps;
    for (int k = 0; k < steps; ++k)
      for (int m = 0; m < channels; ++m) series.y.push_back(first + k);
  }
  return data;
}

struct Fixture {
  Case c;
  std::unique_ptr<model::LearnedModel<float>> model;

  explicit Fixture(const Dataset& data) : c(data, "constant-position") {
    StaticResult start;
    start.description = c.description;
    const auto M = static_cast<std::size_t>(data.meas_dim());
    start.R.assign(M * M, 0.0);
    for (std::size_t m = 0; m < M; ++m) start.R[m * (M + 1)] = 1;
    model = start.with_networks<float>(4, {}, 1);
  }

  LaneFeed feed(std::vector<StepRange> training, FeedOptions options) const {
    return {*model, c.scaled, std::move(training), options};
  }
  // The value of a step in the user's units.
  double user(double y, std::size_t m = 0) const {
    const model::Units& units = c.description.units;
    return units.y_offset[m] + units.y_scale[m] * y;
  }
};

// One lane of the window that the feed holds.
struct Lane {
  const heads::StateGroup<float>& group;
  int lane;

  int length() const { return group.length[static_cast<std::size_t>(lane)]; }
  bool fresh() const { return group.fresh[static_cast<std::size_t>(lane)] != 0; }
  double at(const Buffer<double>& panel, int k, int rows, int row = 0) const {
    return panel[static_cast<std::size_t>((k * rows + row) * group.lanes + lane)];
  }
  double feature(int k, int rows, int row) const {
    return static_cast<double>(
        group.input_fwd[static_cast<std::size_t>((k * rows + row) * group.lanes + lane)]);
  }
};

std::vector<Lane> lanes_of(LaneFeed& feed) {
  std::vector<Lane> lanes;
  for (const auto& group : feed.groups())
    for (int lane = 0; lane < group.lanes; ++lane) lanes.push_back({group, lane});
  return lanes;
}

TEST(LaneFeed, DeliversEveryTrainingStepAndNoOther) {
  const std::vector<int> lengths = {700, 1, 0, 2, 333, 40};
  const Fixture f(numbered(lengths));
  ThreadTeam team(1);
  const Split split = split_data(lengths, 0.3, 1);
  for (const int batch : {1, 16, 40, 128}) {
    LaneFeed feed = f.feed(split.training, {8, batch, 0, 1});
    std::map<int, int> seen;
    for (int window = 0; window < 300; ++window) {
      const Measured measured = feed.next(team);
      int steps = 0;
      for (const Lane& lane : lanes_of(feed))
        for (int k = 0; k < lane.length(); ++k, ++steps)
          ++seen[static_cast<int>(std::lround(f.user(lane.at(lane.group.y, k, 1))))];
      EXPECT_EQ(feed.steps(), steps);
      EXPECT_EQ(measured.values, steps);
    }
    for (const StepRange& each : split.training)
      for (int k = each.begin; k < each.end; ++k)
        EXPECT_EQ(seen.erase(10000 * (each.series + 1) + k), 1u) << each.series << " " << k;
    EXPECT_TRUE(seen.empty()) << "delivered " << seen.begin()->first;
  }
}

// A blind step: the networks are not shown it, it updates the state, and it alone is scored.
TEST(LaneFeed, BlindStepsAreHiddenFromTheNetworksAndScored) {
  const Fixture f(numbered({6000}, 2));
  const model::SmootherSizes sizes{4, {}, model::SmootherKind::Recursive};
  f.model->set_smoother(sizes, starting_networks(*f.model, sizes, f.c.scaled, {}, 1));
  ThreadTeam team(1);
  FeedOptions options{16, 64, 0, 1};
  options.two_sided = true;
  options.blind = 0.25;
  LaneFeed feed = f.feed(f.c.everything(), options);
  const int rows = f.model->description().features.input_dim();
  const int per_channel = rows / 2;  // the last of them: whether it is measured
  double scored = 0, steps = 0;
  for (int window = 0; window < 20; ++window) {
    const Measured measured = feed.next(team);
    double values = 0;
    for (const Lane& lane : lanes_of(feed))
      for (int k = 0; k < lane.length(); ++k, ++steps) {
        const bool blind = lane.at(lane.group.score, k, 1) == 1;
        if (!blind) {
          ASSERT_EQ(lane.at(lane.group.score, k, 1), 0);
        }
        values += blind ? 2 : 0;
        for (int m = 0; m < 2; ++m) EXPECT_EQ(lane.at(lane.group.observed, k, 2, m), 1);
        for (int m = 0; m < 2 && k + 1 < lane.length(); ++m)
          EXPECT_EQ(lane.feature(k + 1, rows, (m + 1) * per_channel - 1), blind ? 0 : 1);
      }
    EXPECT_EQ(measured.values, values);
    scored += values / 2;
  }
  EXPECT_NEAR(scored / steps, 0.25, 0.02);
}

TEST(LaneFeed, LanesGoOnWhereTheyLeftOffAndStartAfreshWithASeries) {
  const Fixture f(numbered({500, 130, 3, 90}));
  ThreadTeam team(1);
  LaneFeed feed = f.feed(f.c.everything(), {16, 64, 0, 2});
  std::vector<int> next(static_cast<std::size_t>(feed.lanes()), -1);
  int starts = 0;
  for (int window = 0; window < 100; ++window) {
    feed.next(team);
    const std::vector<Lane> lanes = lanes_of(feed);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      ASSERT_GT(lanes[i].length(), 0);
      const int first = static_cast<int>(std::lround(f.user(lanes[i].at(lanes[i].group.y, 0, 1))));
      if (lanes[i].fresh()) {
        ++starts;
        EXPECT_TRUE(window == 0 || first % 10000 == 0);
      } else {
        EXPECT_EQ(first, next[i]);
      }
      for (int k = 1; k < lanes[i].length(); ++k)
        EXPECT_EQ(std::lround(f.user(lanes[i].at(lanes[i].group.y, k, 1))), first + k);
      next[i] = first + lanes[i].length();
    }
  }
  EXPECT_GT(starts, 2 * feed.lanes());
}

// A two-sided smoother's windows hold the future, but nothing beyond their end.
TEST(LaneFeed, TwoSidedWindowsBeginAnywhereAndReadTheFutureWithinThem) {
  const Fixture f(numbered({900, 400}));
  const model::SmootherSizes sizes{4, {}, model::SmootherKind::Recurrent};
  const heads::Architecture architecture(
      model::smoother_options(f.model->description(), f.model->expert(), sizes));
  f.model->set_smoother(
      sizes, std::vector<float>(static_cast<std::size_t>(architecture.parameters.size())));
  ThreadTeam team(1);
  FeedOptions options{16, 32, 0, 3};
  options.two_sided = true;
  LaneFeed feed = f.feed(f.c.everything(), options);
  std::vector<int> first_lengths, next(static_cast<std::size_t>(feed.lanes()), -1);
  for (int window = 0; window < 40; ++window) {
    feed.next(team);
    const std::vector<Lane> lanes = lanes_of(feed);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const Lane& lane = lanes[i];
      const auto value = [&](int k) { return lane.at(lane.group.y, k, 1); };
      const int first = static_cast<int>(std::lround(f.user(value(0))));
      if (lane.fresh())
        first_lengths.push_back(lane.length());
      else
        EXPECT_EQ(first, next[i]);
      next[i] = first + lane.length();
      for (int k = 0; k < lane.length(); ++k) {
        // Half way between its neighbours in the window; at an end, the one there is.
        const bool has_past = k > 0 || !lane.fresh(), has_future = k + 1 < lane.length();
        const double centre = lane.at(lane.group.centre, k, 1);
        if (!has_past && !has_future) {
          EXPECT_TRUE(std::isnan(centre));
          continue;
        }
        const double expected = first + k + (has_past ? 0 : 1) - (has_future ? 0 : 1);
        EXPECT_NEAR(f.user(centre), expected, 1e-6);
      }
    }
  }
  std::ranges::sort(first_lengths);
  EXPECT_LT(first_lengths.front(), 5);
  EXPECT_GT(first_lengths.back(), 12);
}

TEST(LaneFeed, LanesAreSpreadOverTheData) {
  const Fixture f(numbered({3200}));
  ThreadTeam team(1);
  LaneFeed feed = f.feed(f.c.everything(), {32, 32, 0, 2});
  EXPECT_EQ(feed.lanes(), 32);
  feed.next(team);
  int expected = 10000;
  for (const Lane& lane : lanes_of(feed)) {
    EXPECT_EQ(std::lround(f.user(lane.at(lane.group.y, 0, 1))), expected);
    expected += 100;
  }
}

TEST(LaneFeed, MoreLanesThanData) {
  for (const int steps : {1, 2, 5}) {
    std::vector<int> lengths = {steps, 3};
    const Fixture f(numbered(lengths));
    ThreadTeam team(2);
    LaneFeed feed = f.feed(f.c.everything(), {32, 4096, 0.1, 2});
    EXPECT_EQ(feed.lanes(), lanes::kLaneQuantum);
    for (int window = 0; window < 5; ++window) {
      feed.next(team);
      for (const Lane& lane : lanes_of(feed)) EXPECT_LE(lane.length(), std::max(steps, 3));
    }
  }
}

TEST(LaneFeed, DoesNotDependOnThreads) {
  std::vector<int> lengths(30, 217);
  const Fixture f(numbered(lengths, 2));
  ThreadTeam one(1), two(2);
  const FeedOptions options{16, 128, 0.2, 5};
  LaneFeed a = f.feed(f.c.everything(), options), b = f.feed(f.c.everything(), options);
  FeedOptions another = options;
  another.seed = 6;
  LaneFeed c = f.feed(f.c.everything(), another);
  ASSERT_GT(a.groups().size(), 1u);
  bool differs = false;
  for (int window = 0; window < 60; ++window) {
    a.next(one);
    b.next(two);
    c.next(one);
    for (std::size_t g = 0; g < a.groups().size(); ++g) {
      const auto &x = a.groups()[g], &y = b.groups()[g], &z = c.groups()[g];
      EXPECT_EQ(x.length, y.length);
      EXPECT_EQ(x.fresh, y.fresh);
      ASSERT_EQ(0, std::memcmp(x.y.data(), y.y.data(), x.y.size() * sizeof(double)));
      ASSERT_EQ(0, std::memcmp(x.observed.data(), y.observed.data(), x.y.size() * sizeof(double)));
      ASSERT_EQ(0, std::memcmp(x.input_fwd.data(), y.input_fwd.data(),
                               x.input_fwd.size() * sizeof(float)));
      differs = differs || std::memcmp(x.observed.data(), z.observed.data(),
                                       x.observed.size() * sizeof(double)) != 0;
    }
  }
  EXPECT_TRUE(differs);
}

// How many values are hidden, one of two or both, and in what runs.
TEST(LaneFeed, HidesTheShareThatItIsAskedFor) {
  const Fixture f(numbered({4000, 3000}, 2));
  ThreadTeam team(1);
  for (const double share : {0.2, 0.05}) {  // the latter in some of the windows
    SCOPED_TRACE(share);
    LaneFeed feed = f.feed(f.c.everything(), {20, 32, share, 3});
    std::vector<bool> before(static_cast<std::size_t>(feed.lanes()));
    double steps = 0, touched = 0, alone = 0, runs = 0;
    for (int window = 0; window < 400; ++window) {
      const Measured measured = feed.next(team);
      double values = 0;
      const std::vector<Lane> lanes = lanes_of(feed);
      for (std::size_t i = 0; i < lanes.size(); ++i)
        for (int k = 0; k < lanes[i].length(); ++k) {
          int missing = 0;
          for (int m = 0; m < 2; ++m) {
            const bool is_shown = lanes[i].at(lanes[i].group.observed, k, 2, m) != 0;
            EXPECT_TRUE(is_shown || lanes[i].at(lanes[i].group.y, k, 2, m) == 0);
            values += is_shown ? 1 : 0;
            missing += is_shown ? 0 : 1;
          }
          ++steps;
          touched += missing > 0 ? 1 : 0;
          alone += missing == 1 ? 1 : 0;
          runs += missing > 0 && !before[i] ? 1 : 0;
          before[i] = missing > 0;
        }
      EXPECT_EQ(measured.values, values);
    }
    EXPECT_NEAR(touched / steps, share, 0.2 * share);
    EXPECT_NEAR(alone / touched, 0.5, 0.05);
    EXPECT_NEAR(touched / runs, 4, 0.6);
  }
}

// Data that differ in hidden values alone give the same windows, to the bit.
TEST(LaneFeed, HiddenValuesReachNothing) {
  const Dataset data = numbered({7000}, 2);
  const Fixture f(data);
  ThreadTeam team(1);
  // So few windows that no lane comes to where another began.
  constexpr int kWindows = 10;
  const FeedOptions options{20, 32, 0.2, 3};
  const auto fed = [&](const ScaledData& scaled, const auto& look) {
    LaneFeed feed(*f.model, scaled, f.c.everything(), options);
    engine::BatchEngine<heads::StateGroup<float>> engine(f.model->window(), team, options.window,
                                                         feed.groups()[0].lanes, false);
    for (int window = 0; window < kWindows; ++window) {
      feed.next(team);
      look(lanes_of(feed));
      static_cast<void>(engine.forward(feed.groups()));  // moves the carried states on
    }
  };
  Dataset other = data;
  std::vector<std::vector<double>> seen;
  const auto keep = [&](const std::vector<Lane>& lanes) {
    std::vector<double>& panels = seen.emplace_back();
    for (const Lane& lane : lanes)
      for (int k = 0; k < lane.length(); ++k) {
        for (int m = 0; m < 2; ++m) panels.push_back(lane.at(lane.group.y, k, 2, m));
        if (k == 0 && lane.fresh()) continue;
        const int rows = f.c.description.features.input_dim();
        for (int r = 0; r < rows; ++r) panels.push_back(lane.feature(k, rows, r));
        for (int n = 0; n < 2; ++n)
          for (const Buffer<double>* panel : {&lane.group.centre, &lane.group.trust}) {
            panels.push_back(lane.at(*panel, k, 2, n));
            if (std::isnan(panels.back())) panels.back() = 7e77;
          }
      }
  };
  fed(f.c.scaled, keep);
  // Which step a lane is at shows in the values that are not hidden.
  int changed = 0;
  fed(f.c.scaled, [&](const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes)
      for (int k = 0; k < lane.length(); ++k)
        for (int m = 0; m < 2; ++m) {
          if (lane.at(lane.group.observed, k, 2, m) != 0) continue;
          if (lane.at(lane.group.observed, k, 2, 1 - m) == 0) continue;  // both: no value tells
          const double value = f.user(lane.at(lane.group.y, k, 2, 1 - m), std::size_t(1 - m));
          const auto s = static_cast<std::size_t>(value / 10000) - 1;
          const auto step = static_cast<std::size_t>(std::lround(value - 10000.0 * double(s + 1)));
          other.series[s].y[2 * step + static_cast<std::size_t>(m)] += 1e6;
          ++changed;
        }
  });
  EXPECT_GT(changed, 300);
  const std::vector<std::vector<double>> first = std::move(seen);
  seen.clear();
  fed(ScaledData(other, f.c.description.units, f.c.description.dt), keep);
  EXPECT_EQ(seen, first);
}

// A step comes with its own length, and with the inputs of the step before it.
TEST(LaneFeed, LengthsAndInputsBelongToTheStep) {
  Dataset data = numbered({400, 90});
  data.time_kind = TimeKind::Number;
  data.u_names = {"u"};
  for (Series& series : data.series) {
    double t = 0;
    for (int k = 0; k < series.steps; ++k) {
      t += k % 3 == 0 ? 1 + 0.001 * k : 1;
      series.t.push_back(t);
      series.u.push_back(1e-4 * series.y[static_cast<std::size_t>(k)]);
    }
  }
  const Fixture f(data);
  const model::FeatureSpec& spec = f.c.description.features;
  ASSERT_TRUE(spec.use_dt);
  ThreadTeam team(1);
  LaneFeed feed = f.feed(f.c.everything(), {16, 16, 0.1, 3});
  const int rows = spec.input_dim();
  int checked = 0;
  for (int window = 0; window < 60; ++window) {
    feed.next(team);
    for (const Lane& lane : lanes_of(feed)) {
      int number = -1;  // of the step, from the last value that was shown
      for (int k = 0; k < lane.length(); ++k) {
        const bool shown = lane.at(lane.group.observed, k, 1) != 0;
        number = shown        ? static_cast<int>(std::lround(f.user(lane.at(lane.group.y, k, 1))))
                 : number < 0 ? -1
                              : number + 1;
        if (number < 0 || (k == 0 && lane.fresh())) continue;
        const auto s = static_cast<std::size_t>(number / 10000 - 1);
        const auto at = static_cast<std::size_t>(number % 10000);
        const Series& series = data.series[s];
        const double length = series.t[at] - series.t[at - 1];
        ASSERT_NEAR(lane.at(lane.group.dt, k, 1), length / f.c.description.dt, 1e-12);
        ASSERT_NEAR(lane.feature(k, rows, rows - 2), std::log(length / f.c.description.dt), 1e-6);
        ASSERT_NEAR(lane.feature(k, rows, rows - 1),
                    (series.u[at - 1] - spec.u_mean[0]) / spec.u_spread[0], 1e-5);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(LaneFeed, NoGapsUnlessAskedFor) {
  const Fixture f(numbered({500}));
  ThreadTeam team(1);
  LaneFeed feed = f.feed(f.c.everything(), {16, 16, 0, 3});
  for (int window = 0; window < 50; ++window) {
    const Measured measured = feed.next(team);
    EXPECT_EQ(measured.values, feed.steps());
  }
}

TEST(LaneFeed, Restarts) {
  const Fixture f(numbered({5000}));
  ThreadTeam team(1);
  LaneFeed feed = f.feed(f.c.everything(), {16, 32, 0, 3});
  feed.next(team);
  feed.next(team);
  for (const Lane& lane : lanes_of(feed)) EXPECT_FALSE(lane.fresh());
  // Lane 5 has lost its state, lane 9 its covariance.
  feed.groups()[0].carry.x[5] = std::nan("");
  feed.groups()[0].carry.P[9] = std::numeric_limits<double>::infinity();
  const double at = f.user(feed.groups()[0].y[15u * 32 + 5]);
  feed.restart_broken();
  feed.next(team);
  for (const Lane& lane : lanes_of(feed)) EXPECT_EQ(lane.fresh(), lane.lane == 5 || lane.lane == 9);
  EXPECT_NEAR(f.user(feed.groups()[0].y[5]), at + 1, 1e-6);
  // It remembers nothing: no step from the last value to the first.
  const int rows = f.c.description.features.input_dim();
  EXPECT_EQ(lanes_of(feed)[5].feature(1, rows, 0), 0);
  EXPECT_NE(lanes_of(feed)[5].feature(2, rows, 0), 0);
  feed.restart();
  feed.next(team);
  for (const Lane& lane : lanes_of(feed)) EXPECT_TRUE(lane.fresh());
}

// What is held out does not reach the windows: other values there, same windows.
TEST(LaneFeed, HeldOutValuesAreNotSeen) {
  const std::vector<int> lengths = {2000, 600};
  const Split split = split_data(lengths, 0.25, 1);
  const Fixture f(numbered(lengths));
  Dataset changed = f.c.data;
  for (const HeldOut& each : split.held_out)
    for (int k = each.score_from; k < each.stretch.end; ++k)
      changed.series[static_cast<std::size_t>(each.stretch.series)].y[static_cast<std::size_t>(k)] =
          -1e9;
  const ScaledData other(changed, f.c.description.units, 1);
  ThreadTeam team(1);
  const FeedOptions options{32, 32, 0.1, 1};
  LaneFeed a = f.feed(split.training, options);
  LaneFeed b(*f.model, other, split.training, options);
  for (int window = 0; window < 200; ++window) {
    a.next(team);
    b.next(team);
    const auto &x = a.groups()[0], &y = b.groups()[0];
    ASSERT_EQ(0, std::memcmp(x.y.data(), y.y.data(), x.y.size() * sizeof(double)));
    ASSERT_EQ(
        0, std::memcmp(x.input_fwd.data(), y.input_fwd.data(), x.input_fwd.size() * sizeof(float)));
  }
}

}  // namespace
}  // namespace kalmia::train
