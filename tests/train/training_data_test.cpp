#include "train/training_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using Steps = std::set<std::pair<int, int>>;  // series, step

Steps trained_on(const Split& split) {
  Steps steps;
  for (const StepRange& each : split.training) {
    EXPECT_GT(each.steps(), 0);
    for (int k = each.begin; k < each.end; ++k)
      EXPECT_TRUE(steps.emplace(each.series, k).second) << "trained on twice";
  }
  return steps;
}

Steps scored(const Split& split) {
  Steps steps;
  for (const HeldOut& each : split.held_out) {
    EXPECT_LE(each.stretch.begin, each.score_from);
    for (int k = each.score_from; k < each.stretch.end; ++k)
      EXPECT_TRUE(steps.emplace(each.stretch.series, k).second) << "scored twice";
  }
  return steps;
}

// Every step is trained on or scored, none both.
void expect_partition(const std::vector<int>& lengths, const Split& split, double share,
                      double tolerance) {
  const Steps training = trained_on(split), held_out = scored(split);
  Steps both;
  std::set_intersection(training.begin(), training.end(), held_out.begin(), held_out.end(),
                        std::inserter(both, both.end()));
  EXPECT_TRUE(both.empty());
  std::size_t total = 0;
  for (const int steps : lengths) total += static_cast<std::size_t>(steps);
  EXPECT_EQ(training.size() + held_out.size(), total);
  EXPECT_NEAR(static_cast<double>(held_out.size()) / static_cast<double>(total), share, tolerance);
}

TEST(SplitSeries, TheFirstAreTrainedOnAndTheOthersHeldOut) {
  const std::vector<int> lengths = {900, 0, 40, 700, 0, 33};
  const Split split = split_series(lengths, 3);
  expect_partition(lengths, split, 733.0 / 1673, 1e-12);
  for (const StepRange& each : split.training) EXPECT_LT(each.series, 3);
  for (const HeldOut& each : split.held_out) {
    EXPECT_GE(each.stretch.series, 3);
    EXPECT_EQ(each.stretch.begin, std::max(0, each.score_from - kSettling));
    EXPECT_LE(each.stretch.end - each.score_from, 256);
  }
}

TEST(SplitData, EndsOfAFewSeries) {
  const std::vector<int> lengths = {5000, 0, 1, 2, 700, 33};
  const Split split = split_data(lengths, 0.15, 1);
  expect_partition(lengths, split, 0.15, 0.001);
  for (const StepRange& each : split.training) EXPECT_EQ(each.begin, 0);
  // The filter settles on what comes before, and pieces are short enough to run side by side.
  for (const HeldOut& each : split.held_out) {
    EXPECT_EQ(each.stretch.begin, std::max(0, each.score_from - kSettling));
    EXPECT_LE(each.stretch.end - each.score_from, 256);
  }
  EXPECT_GE(split.held_out.size(), 4u);
}

TEST(SplitData, WholeSeriesWhereThereAreMany) {
  const std::vector<int> lengths(40, 100);
  const Split split = split_data(lengths, 0.15, 1);
  expect_partition(lengths, split, 0.15, 1e-9);
  EXPECT_EQ(split.held_out.size(), 6u);
  EXPECT_EQ(split.training.size(), 34u);
  for (const HeldOut& each : split.held_out) {
    EXPECT_EQ(each.stretch.begin, 0);
    EXPECT_EQ(each.score_from, 0);
    EXPECT_EQ(each.stretch.end, 100);
  }
}

TEST(SplitData, SeriesOfManyLengthsGiveTheShareOfTheSteps) {
  std::vector<int> lengths;
  for (int s = 0; s < 60; ++s) lengths.push_back(s % 7 == 0 ? 0 : 20 + 13 * (s % 11));
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    expect_partition(lengths, split_data(lengths, 0.2, seed), 0.2, 0.03);
}

TEST(SplitData, ManySeriesOfWhichOneIsNearlyAll) {
  std::vector<int> lengths(12, 5);
  lengths[3] = 4000;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    expect_partition(lengths, split_data(lengths, 0.15, seed), 0.15, 0.01);
}

TEST(SplitData, ManySeriesOfWhichMostAreEmpty) {
  std::vector<int> lengths(12, 0);
  lengths[2] = lengths[9] = 300;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Split split = split_data(lengths, 0.15, seed);
    expect_partition(lengths, split, 0.15, 0.01);
    EXPECT_EQ(split.training.size(), 2u);
  }
}

TEST(SplitData, SmallAndNoShares) {
  for (const auto& lengths :
       {std::vector<int>{}, {0}, {1}, {2}, {1, 1, 2}, std::vector<int>(12, 1)})
    for (const double share : {0.0, 0.15, 0.5}) {
      const Split split = split_data(lengths, share, 1);
      const Steps training = trained_on(split), held_out = scored(split);
      std::size_t total = 0;
      for (const int steps : lengths) total += static_cast<std::size_t>(steps);
      EXPECT_EQ(training.size() + held_out.size(), total);
      EXPECT_TRUE(share > 0 || held_out.empty());
    }
}

TEST(SplitData, SameSeedSameSplit) {
  const std::vector<int> lengths(50, 80);
  const auto chosen = [&](std::uint64_t seed) {
    std::vector<int> series;
    for (const HeldOut& each : split_data(lengths, 0.2, seed).held_out)
      series.push_back(each.stretch.series);
    return series;
  };
  EXPECT_EQ(chosen(3), chosen(3));
  EXPECT_NE(chosen(3), chosen(4));
}

TEST(ScaledData, UnitsAndMissingValues) {
  Dataset data;
  data.y_names = {"a", "b"};
  data.series.resize(2);
  data.series[1].steps = 2;
  data.series[1].y = {1, 20, 3, kMissing};
  const ScaledData scaled(data, {{2, 10}, {1, -10}, {}, {}}, 1);
  EXPECT_EQ(scaled.at(1, 0)[0], 0);
  EXPECT_EQ(scaled.at(1, 0)[1], 3);
  EXPECT_EQ(scaled.at(1, 1)[0], 1);
  EXPECT_TRUE(std::isnan(scaled.at(1, 1)[1]));
  const Measured measured = scaled.measured(StepRange{1, 0, 2});
  EXPECT_EQ(measured.values, 3);
  EXPECT_NEAR(measured.log_units, 2 * std::log(2) + std::log(10), 1e-12);
  EXPECT_EQ(scaled.measured(StepRange{1, 1, 1}).values, 0);
}

TEST(ScaledData, LengthsAreInUsualStepsAndInputsAsTheyAre) {
  Dataset data = dataset_of({{1, 2, 3}, {4, 5, 6}});
  data.time_kind = TimeKind::Number;
  data.u_names = {"a", "b"};
  data.series[0].t = {0, 0.5, 1};
  data.series[0].u = {1, 2, 3, 4, 5, 6};
  const model::Units units{{1}, {0}, {}, {}};
  data.series[1].t = {7, 8, 8.25};
  data.series[1].u = {7, 8, kMissing, 10, 11, 12};
  const ScaledData scaled(data, units, 0.5);
  EXPECT_TRUE(scaled.irregular());
  EXPECT_EQ(scaled.dt_ratio(0, 0), nullptr);  // all usual
  EXPECT_EQ(scaled.dt_ratio(1, 1)[0], 2);
  EXPECT_EQ(scaled.dt_ratio(1, 1)[1], 0.5);
  EXPECT_EQ(scaled.inputs(0, 1)[1], 4);
  EXPECT_EQ(scaled.inputs(1, 1)[0], 7);  // the one before
  const infer::SeriesView piece = scaled.view({1, 1, 3});
  EXPECT_EQ(piece.steps, 2);
  EXPECT_EQ(piece.y[0], 5);
  EXPECT_EQ(piece.dt_ratio[0], 2);
  EXPECT_EQ(piece.u[1], 10);
  data.series.pop_back();
  EXPECT_FALSE(ScaledData(data, units, 0.5).irregular());
  EXPECT_TRUE(ScaledData(data, units, 0.25).irregular());
  data.u_names.clear();
  data.series[0].u.clear();
  EXPECT_EQ(ScaledData(data, units, 0.5).inputs(0, 1), nullptr);
}

TEST(HeldOutLoss, IsTheClassicalLikelihoodInTheUsersUnits) {
  Dataset data;
  data.y_names = {"small", "large"};
  data.time_kind = TimeKind::Number;
  RandomStream random(11, "held out");
  const std::vector<int> lengths = {900, 40, 1, 400};
  for (const int steps : lengths) {
    Series& series = data.series.emplace_back();
    series.steps = steps;
    const std::vector<double> a = local_level(steps, 1, 1, 5), b = local_level(steps, 1, 2, 6);
    for (int k = 0; k < steps; ++k) {
      series.t.push_back(0.25 * k);
      const auto i = static_cast<std::size_t>(k);
      series.y.push_back(random.uniform() < 0.1 ? kMissing : 3e-5 * a[i] + 0.7);
      series.y.push_back(random.uniform() < 0.1 ? kMissing : 4e4 * b[i] - 1e6);
    }
  }
  const Case c(data, "constant-velocity");
  ThreadTeam team(1);
  const Split split = split_data(lengths, 0.3, 1);
  StaticOptions options;
  options.max_iterations = 10;
  const model::NoiseSpec noise{model::NoiseSpec::Kind::LearnFull, {}};
  const StaticResult fitted =
      fit_static(c.description, c.channels, noise, c.scaled, split.training, team, options);

  // The density of what comes after `from` is that of the whole less that of the part before.
  const LinearModel linear = classical_model(fitted);
  double sum = 0, values = 0;
  for (const HeldOut& each : split.held_out) {
    const Series& series = data.series[static_cast<std::size_t>(each.stretch.series)];
    const double* y = series.y.data() + 2 * each.stretch.begin;
    const auto likelihood = [&](int end) {
      const int steps = end - each.stretch.begin;
      return steps == 0 ? 0 : kalman_filter(linear, {y, 1, steps, 2}).log_likelihood[0];
    };
    sum += likelihood(each.stretch.end) - likelihood(each.score_from);
    for (int k = each.score_from; k < each.stretch.end; ++k)
      for (int m = 0; m < 2; ++m)
        values += std::isnan(series.y[static_cast<std::size_t>(2 * k + m)]) ? 0 : 1;
  }
  EXPECT_NEAR(held_out_loss(*fitted.alone<double>(), c.scaled, split.held_out, team), -sum / values,
              1e-9);
  EXPECT_NEAR(held_out_loss(*fitted.alone<float>(), c.scaled, split.held_out, team), -sum / values,
              1e-5);
  ThreadTeam two(2);
  EXPECT_EQ(held_out_loss(*fitted.alone<float>(), c.scaled, split.held_out, two),
            held_out_loss(*fitted.alone<float>(), c.scaled, split.held_out, team));
}

}  // namespace
}  // namespace kalmia::train
