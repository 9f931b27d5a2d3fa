#include "train/use_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lanes/panel.hpp"
#include "nn/softplus.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

constexpr Use kAllUses[] = {Use::Filter, Use::Smooth, Use::Gaps, Use::Forecast};

// x[k] = x[k-1] + N(0, q), y = x + N(0, r), in the user's units: nothing of it is learned.
struct Level {
  double q, r;

  std::unique_ptr<model::LearnedModel<float>> of(const Case& c) const {
    StaticResult known = begin_static(c.description, c.channels, {}, c.scaled, c.everything());
    const model::Units& units = c.description.units;
    known.output.back() = nn::inverse_softplus(std::sqrt(q) / units.x_scale[0]);
    known.R = {r / (units.y_scale[0] * units.y_scale[0])};
    return known.alone<float>();
  }
};

Case level_case(const std::vector<double>& y) { return Case(dataset_of({y}), "constant-position"); }

UseScores scores_of(const Case& c, const Level& level, LeftOut left_out = LeftOut::Exactly,
                    const std::vector<int>& runs = {4, 12}, int threads = 1) {
  ThreadTeam team(threads);
  return UseData(c.scaled, c.everything(), 0, runs).score(*level.of(c), left_out, team);
}

// Errors and variances of the predictions of values.
struct Errors {
  std::vector<double> e, v;

  // (mean log v / 2 + log s + log of the root mean square of e) / 2, where no error is beyond
  // kMostDeviations.
  double loss() const {
    const auto n = static_cast<double>(e.size());
    double log_v = 0, u2 = 0, e2 = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      log_v += std::log(v[i]) / n;
      u2 += e[i] * e[i] / v[i] / n;
      e2 += e[i] * e[i] / n;
    }
    return (log_v / 2 + std::log(u2) / 2 + std::log(e2) / 2) / 2;
  }
};

struct Normal {
  double mean, variance;
};

// What all values before each say of it, without its noise; from a wide start.
std::vector<Normal> predicted(const Level& level, const std::vector<double>& y) {
  std::vector<Normal> all;
  Normal x{0, 1e8};
  for (const double value : y) {
    all.push_back(x);
    if (!std::isnan(value)) {
      const double gain = x.variance / (x.variance + level.r);
      x = {x.mean + gain * (value - x.mean), (1 - gain) * x.variance};
    }
    x.variance += level.q;
  }
  return all;
}

TEST(UseScores, LossesOfFilterAndSmootherAreThoseWorkedOutByHand) {
  constexpr int kSteps = 700, kSettling = 64;
  const Level level{0.3, 2};
  std::vector<double> y = local_level(kSteps, 0.3, 2, 1);
  for (std::size_t k = 100; k < 103; ++k) y[k] = kMissing;
  const UseScores scores = scores_of(level_case(y), level);
  // The past, the future, and both at once as two independent measurements.
  const std::vector<Normal> past = predicted(level, y);
  std::vector<Normal> future = predicted(level, {y.rbegin(), y.rend()});
  std::ranges::reverse(future);
  Errors filter, smooth;
  for (std::size_t k = kSettling; k < y.size(); ++k) {
    if (std::isnan(y[k])) continue;
    filter.e.push_back(y[k] - past[k].mean);
    filter.v.push_back(past[k].variance + level.r);
    const double both = 1 / (1 / past[k].variance + 1 / future[k].variance);
    const double mean =
        both * (past[k].mean / past[k].variance + future[k].mean / future[k].variance);
    smooth.e.push_back(y[k] - mean);
    smooth.v.push_back(both + level.r);
  }
  // The model computes in float.
  EXPECT_NEAR(scores.loss(Use::Filter), filter.loss(), 1e-4);
  EXPECT_NEAR(scores.loss(Use::Smooth), smooth.loss(), 1e-4);
  EXPECT_LT(smooth.loss(), filter.loss() - 0.01);
}

// Without noise a walk's value is known: j steps later its variance is j q, and between two known
// values that are n steps apart, j (n - j) / n q. The loss of so many steps, half of it by their
// variances, half by their mean square.
struct WalkLosses {
  double ahead, between;
};
WalkLosses walk_losses(double q, int run) {
  double log_ahead = 0, log_between = 0, ahead = 0, between = 0;
  for (int j = 1; j <= run; ++j) {
    const double v = q * j, w = v * (run + 1 - j) / (run + 1);
    log_ahead += std::log(v) / run;
    log_between += std::log(w) / run;
    ahead += v / run;
    between += w / run;
  }
  return {(log_ahead + std::log(ahead)) / 4, (log_between + std::log(between)) / 4};
}

TEST(UseScores, LossesOfHiddenRunsAreThoseOfAWalk) {
  constexpr double kQ = 0.5;
  constexpr int kRun = 60;  // as far as forecasts go
  const Case c = level_case(local_level(16000, kQ, 1e-6, 2));
  const UseScores scores = scores_of(c, {kQ, 1e-6}, LeftOut::Exactly, {kRun});
  const WalkLosses expected = walk_losses(kQ, kRun);
  // 45 runs, each of hardly more than two independent values: a standard error of 8 %.
  EXPECT_NEAR(scores.loss(Use::Forecast), expected.ahead, 0.24);
  EXPECT_NEAR(scores.loss(Use::Gaps), expected.between, 0.24);
  EXPECT_GT(expected.ahead - expected.between, 0.5);
}

// The first value after a long gap of the data's own tells of gaps, too, and many of them nearly as
// much as all hidden values.
TEST(UseScores, ManyOwnGapsCountAsMuchAsHiddenRuns) {
  constexpr double kQ = 1;
  constexpr int kGap = 100, kRun = 12;
  std::vector<double> y = local_level(16000, kQ, 1e-6, 3);
  for (std::size_t k = 100; k < y.size(); ++k)
    if (k % 300 < kGap) y[k] = kMissing;
  const double loss =
      scores_of(level_case(y), {kQ, 1e-6}, LeftOut::Exactly, {kRun}).loss(Use::Gaps);
  // Between that of the hidden values alone and of the gaps alone, and no nearer to the one by more
  // than a third of the way.
  const double hidden = walk_losses(kQ, kRun).between, gaps = std::log((kGap + 1) * kQ) / 2;
  EXPECT_GT(loss, hidden + (gaps - hidden) / 3);
  EXPECT_LT(loss, gaps);
}

// Of few data values are hidden many times: the loss of a short walk without noise is that of all
// its runs, wherever they begin.
TEST(UseScores, FewDataAreHiddenManyTimes) {
  constexpr int kSteps = 120, kRun = 18;  // no forecast goes further
  constexpr int kSettled = kSteps / 3;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::vector<double> y = local_level(kSteps, 1, 1e-8, seed);
    const Level level{1, 1e-8};
    Errors ahead;
    for (std::size_t k = kSettled; k < y.size(); ++k)
      for (std::size_t j = 1; j <= kRun; ++j) {
        ahead.e.push_back(y[k] - y[k - j]);
        ahead.v.push_back(static_cast<double>(j));
      }
    const double loss =
        scores_of(level_case(y), level, LeftOut::Exactly, {kRun}).loss(Use::Forecast);
    EXPECT_NEAR(loss, ahead.loss(), 0.05) << seed;
  }
}

TEST(UseScores, TheBetterOfTwoKnownModelsWinsInEachUse) {
  const Case c = level_case(local_level(16000, 0.2, 1, 4));
  const UseScores truth = scores_of(c, {0.2, 1});
  for (const Level& wrong : {Level{0.2 * 25, 1}, Level{0.2 / 100, 1}}) {
    const UseScores other = scores_of(c, wrong);
    for (const Use use : kAllUses) {
      const LossDifference worse = difference(other, truth, use);
      // Far ahead the walk's own variance is nearly all there is, whatever the filter knew.
      EXPECT_GT(worse.mean, (use == Use::Forecast ? 1 : 2) * worse.error)
          << use_name(use) << " " << wrong.q;
      EXPECT_GT(worse.error, 0);
      EXPECT_NEAR(worse.mean, other.loss(use) - truth.loss(use), 1e-9);
    }
    EXPECT_TRUE(is_better({"truth", truth}, {"wrong", other}));
    EXPECT_FALSE(is_better({"wrong", other}, {"truth", truth}));
  }
}

TEST(UseScores, ACommonFactorOfAllVariancesCountsNothing) {
  const Case c = level_case(local_level(2000, 0.2, 1, 5));
  const UseScores one = scores_of(c, {0.2, 1}), nine = scores_of(c, {0.2 * 9, 9});
  for (const Use use : kAllUses) EXPECT_NEAR(one.loss(use), nine.loss(use), 1e-4) << use_name(use);
}

TEST(UseScores, LossesAreInTheUnitsOfTheData) {
  std::vector<double> y = local_level(2000, 0.2, 1, 6);
  const UseScores metres = scores_of(level_case(y), {0.2, 1});
  for (double& value : y) value *= 100;
  const UseScores centimetres = scores_of(level_case(y), {0.2e4, 1e4});
  for (const Use use : kAllUses)
    EXPECT_NEAR(centimetres.loss(use) - metres.loss(use), std::log(100), 1e-4) << use_name(use);
}

// An outlier is an error of kMostDeviations, however far off it is: of n values of variance one,
// the squared scale is (1 + kMostDeviations^2 s^2 / n).
TEST(UseScores, AnOutlierDoesNotDecide) {
  const std::vector<double> y = local_level(4000, 0.2, 1, 7);
  const Case c = level_case(y);
  ThreadTeam team(1);
  const auto with_outlier = [&](double size, const Level& level) {
    Dataset targets = c.data;
    targets.series[0].y[1000] += size;
    const ScaledData scaled(targets, c.description.units, 1);
    return UseData(c.scaled, c.everything(), 0, {4, 12}, &scaled)
        .score(*level.of(c), LeftOut::Exactly, team);
  };
  const Level truth{0.2, 1}, wrong{1, 1};
  const UseScores none = with_outlier(0, truth), far = with_outlier(1e3, truth),
                  farther = with_outlier(1e6, truth);
  const double square = kMostDeviations * kMostDeviations / (4000 - 64);
  for (const Use use : {Use::Filter, Use::Smooth}) {
    EXPECT_NEAR(farther.loss(use), far.loss(use), 1e-6) << use_name(use);
    EXPECT_NEAR(far.loss(use) - none.loss(use), -std::log(1 - square) / 2, 1e-3) << use_name(use);
    EXPECT_LT(farther.loss(use), with_outlier(1e6, wrong).loss(use)) << use_name(use);
  }
}

TEST(UseScores, StepsBeforeAFilterHasSettledDoNotCount) {
  const Case c = level_case(local_level(600, 0.2, 1, 8));
  Dataset targets = c.data;
  for (std::size_t k = 0; k < 100; ++k) targets.series[0].y[k] += 1e3;
  const ScaledData scaled(targets, c.description.units, 1);
  ThreadTeam team(1);
  const auto loss = [&](double longest_period, const ScaledData* to_predict) {
    return UseData(c.scaled, c.everything(), longest_period, {4}, to_predict)
        .score(*Level{0.2, 1}.of(c), LeftOut::Exactly, team)
        .loss(Use::Filter);
  };
  // Two periods.
  EXPECT_EQ(loss(50, &scaled), loss(50, nullptr));
  EXPECT_GT(loss(0, &scaled), loss(0, nullptr) + 1);
  // At most a third does not count.
  EXPECT_NEAR(loss(100, nullptr), loss(10000, nullptr), 1e-4);
}

// Of many data, differences scatter as their standard errors say.
TEST(UseScores, StandardErrorsOfDifferencesAreAboutRight) {
  constexpr int kTimes = 100;
  std::array<std::vector<double>, kUses + 1> means, errors;
  const auto note = [&](std::size_t i, const LossDifference& one) {
    means[i].push_back(one.mean);
    errors[i].push_back(one.error);
  };
  for (std::uint64_t seed = 0; seed < kTimes; ++seed) {
    const Case c = level_case(local_level(1500, 0.2, 1, 100 + seed));
    const UseScores truth = scores_of(c, {0.2, 1}), other = scores_of(c, {0.8, 1});
    for (std::size_t u = 0; u < kUses; ++u) note(u, difference(other, truth, kAllUses[u]));
    note(kUses, difference(other, truth));
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double mean = std::accumulate(means[i].begin(), means[i].end(), 0.0) / kTimes;
    double scatter = 0, said = 0;
    for (std::size_t j = 0; j < kTimes; ++j) {
      scatter += std::pow(means[i][j] - mean, 2) / (kTimes - 1);
      said += errors[i][j] * errors[i][j] / kTimes;
    }
    EXPECT_GT(mean, 0) << i;
    const double ratio = std::sqrt(said / scatter);
    EXPECT_GT(ratio, 0.7) << i;
    EXPECT_LT(ratio, 1.4) << i;
  }
}

// In a linear model single values can be left out without hiding them.
TEST(UseScores, LeavingOutExactlyAgreesWithHiding) {
  const Case c = level_case(local_level(16000, 0.2, 1, 9));
  const UseScores exactly = scores_of(c, {0.2, 1}, LeftOut::Exactly, {2}),
                  hidden = scores_of(c, {0.2, 1}, LeftOut::Hidden, {2});
  // Some 320 single values: a standard error of 4 %. The filter that values are hidden from knows
  // less for a few steps after each run.
  EXPECT_NEAR(hidden.loss(Use::Smooth), exactly.loss(Use::Smooth), 0.12);
  EXPECT_NEAR(hidden.loss(Use::Filter), exactly.loss(Use::Filter), 0.1);
  EXPECT_EQ(hidden.blocks[2], exactly.blocks[2]);
  EXPECT_EQ(hidden.blocks[3], exactly.blocks[3]);
}

// What an update added cannot be taken out of a state whose noise is Student's t: its weight hangs
// on y.
TEST(UseScores, UnderHeavyTailsValuesAreHidden) {
  std::vector<double> y = local_level(3000, 0.2, 1, 15);
  for (std::size_t k = 7; k < y.size(); k += 50) y[k] += 15;
  const Case c = level_case(y);
  const auto model = Level{0.2, 1}.of(c);
  model::ModelDescription heavy = model->description();
  heavy.tails = 3;
  StaticResult student = begin_static(heavy, c.channels, {}, c.scaled, c.everything());
  student.R = model->emission().R();
  ThreadTeam team(1);
  const UseData data(c.scaled, c.everything(), 0, {4, 12});
  const auto of_tails = student.alone<float>();
  for (const Use use : kAllUses)
    EXPECT_EQ(data.score(*of_tails, LeftOut::Exactly, team).loss(use),
              data.score(*of_tails, LeftOut::Hidden, team).loss(use));
}

TEST(UseScores, ThreadsDoNotChangeThem) {
  const Case c = level_case(local_level(9000, 0.2, 1, 10));
  const UseScores one = scores_of(c, {0.2, 1}),
                  two = scores_of(c, {0.2, 1}, LeftOut::Exactly, {4, 12}, 2);
  EXPECT_EQ(one.blocks, two.blocks);
  EXPECT_EQ(one.leverage, two.leverage);
}

TEST(UseScores, RunsAreAsLongAsTheGapsOfTheData) {
  const auto runs = [](const std::vector<double>& y) { return usual_runs(level_case(y).scaled); };
  std::vector<double> y = local_level(4000, 0.2, 1, 11);
  const std::vector<int> usual = runs(y);
  ASSERT_FALSE(usual.empty());
  EXPECT_TRUE(std::ranges::is_sorted(usual));
  EXPECT_GT(usual.front(), 1);
  // Two values that are missing are no gaps to speak of.
  std::vector<double> few = y;
  few[100] = few[200] = kMissing;
  EXPECT_EQ(runs(few), usual);
  // 40 gaps of 3 hold two fifths of what is missing, 10 of 18 the rest.
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 3; ++j) y[50 * (i + 1) + j] = kMissing;
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 18; ++j) y[2500 + 100 * i + j] = kMissing;
  EXPECT_EQ(runs(y), (std::vector<int>{3, 18, 18}));
}

// The filter predicts with the variance P + r, P^2 = q (P + r), and the smoother with P / 2 + r.
TEST(UseScores, WeightsTurnLossesIntoErrorsOfTheState) {
  const double q = 0.2, r = 1, P = (q + std::sqrt(q * q + 4 * q * r)) / 2;
  const UseScores scores = scores_of(level_case(local_level(4000, q, r, 12)), {q, r});
  const UseWeights all = weights_of(scores, model::Purpose::All);
  EXPECT_NEAR(all.of[0], r / P, 0.01);
  EXPECT_NEAR(all.of[1], r / (P / 2), 0.01);
  for (const std::size_t bridged : {2, 3}) {  // 1 + r / variance of the state, which is larger
    EXPECT_GT(all.of[bridged], 1);
    EXPECT_LT(all.of[bridged], 1 + r / (P / 2));
  }
  const model::Purpose purposes[] = {model::Purpose::Filter, model::Purpose::Smooth,
                                     model::Purpose::Gaps, model::Purpose::Forecast};
  for (std::size_t u = 0; u < kUses; ++u) {
    const UseWeights one = weights_of(scores, purposes[u]);
    for (std::size_t other = 0; other < kUses; ++other)
      EXPECT_EQ(one.of[other], other == u ? all.of[u] : 0.0);
    EXPECT_NEAR(mean_loss(scores, one), all.of[u] * scores.loss(kAllUses[u]), 1e-9);
  }
}

// Scores whose losses are these, with something that scatters from block to block.
TriedModel tried(const std::array<double, kUses>& losses, double scatter = 0,
                 std::uint64_t seed = 1) {
  constexpr int kMany = 40;
  RandomStream random(seed, "blocks");
  TriedModel model;
  for (std::size_t u = 0; u < kUses; ++u) {
    double sum = 0;
    for (int i = 0; i < kMany; ++i) {
      model.scores.blocks[u].push_back(losses[u] / kMany + scatter * random.normal());
      sum += model.scores.blocks[u].back();
    }
    for (double& block : model.scores.blocks[u]) block += (losses[u] - sum) / kMany;
  }
  return model;
}

TEST(UseScores, DifferencesAreThoseOfSumsOfBlocks) {
  UseScores a, b;
  a.blocks[0] = {1, 2, 3};
  b.blocks[0] = {0, 0, 0};
  // 3 times a mean of three numbers of deviation 1.
  EXPECT_DOUBLE_EQ(difference(a, b, Use::Filter).mean, 6);
  EXPECT_DOUBLE_EQ(difference(a, b, Use::Filter).error, std::sqrt(3));
  // Uses without values do not count.
  EXPECT_DOUBLE_EQ(mean_loss(a), 6);
  EXPECT_DOUBLE_EQ(mean_loss(a, {{2, 1, 1, 1}}), 12);
  EXPECT_DOUBLE_EQ(difference(a, b).mean, 6);
  EXPECT_EQ(difference(a, b, Use::Gaps).mean, 0);
}

TEST(UseScores, TheSimplerModelWinsUnlessTheOtherIsBetter) {
  const TriedModel simple = tried({1, 1, 1, 1});
  EXPECT_FALSE(is_better(simple, simple));
  EXPECT_TRUE(is_better(tried({0.9, 0.9, 0.9, 0.9}), simple));
  EXPECT_TRUE(is_better(tried({0.8, 1, 1, 1}), simple));
  // What chance explains is no gain.
  EXPECT_FALSE(is_better(tried({0.9, 0.9, 0.9, 0.9}, 0.1), simple));
  // Numbers that were learned have a price.
  TriedModel costly = tried({0.9, 0.9, 0.9, 0.9});
  costly.penalty = 0.2;
  EXPECT_FALSE(is_better(costly, simple));
  EXPECT_DOUBLE_EQ(costly.loss(), 1.1);
}

TEST(UseScores, AGainIsNotPaidForByAUseThatBecomesWorse) {
  const TriedModel simple = tried({1, 1, 1, 1}), mixed = tried({0.8, 0.8, 0.8, 1.3});
  ASSERT_LT(mixed.loss(), simple.loss());
  EXPECT_EQ(worse_use(mixed, simple), Use::Forecast);
  EXPECT_TRUE(is_better_over_all(mixed, simple));
  EXPECT_FALSE(is_better(mixed, simple));
  // To those who ask for no forecasts it is.
  EXPECT_TRUE(is_better(mixed, simple, {{1, 0, 0, 0}}));
  EXPECT_FALSE(is_better(mixed, simple, {{0, 0, 0, 1}}));
  EXPECT_EQ(worse_use(simple, simple), std::nullopt);
  // What chance explains is no harm.
  EXPECT_EQ(worse_use(tried({0.8, 0.8, 0.8, 1.1}, 0.1), simple), std::nullopt);
}

TEST(UseScores, SummariesHoldEachUse) {
  TriedModel model = tried({1, 2, 3, 4});
  model.what = "trend";
  model.penalty = 0.5;
  model.kept = true;
  const FitCandidate summary = model.summary();
  EXPECT_EQ(summary.what, "trend");
  EXPECT_NEAR(summary.loss, 3, 1e-12);
  EXPECT_NEAR(summary.filter, 1.5, 1e-12);
  EXPECT_NEAR(summary.smooth, 2.5, 1e-12);
  EXPECT_NEAR(summary.gaps, 3.5, 1e-12);
  EXPECT_NEAR(summary.forecast, 4.5, 1e-12);
  EXPECT_TRUE(summary.kept);
}

TEST(UseScores, HeldOutPiecesThatFollowEachOtherAreOne) {
  Split split;
  split.held_out = {
      {{0, 100, 200}, 150}, {{0, 136, 250}, 200}, {{0, 300, 400}, 364}, {{1, 0, 50}, 0}};
  const std::vector<StepRange> ranges = held_out_ranges(split);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].begin, 100);
  EXPECT_EQ(ranges[0].end, 250);
  EXPECT_EQ(ranges[1].begin, 300);
  EXPECT_EQ(ranges[2].series, 1);
}

// A model that breaks down has infinite losses.
TEST(UseScores, AModelThatBreaksDownIsNeverBetter) {
  const double inf = std::numeric_limits<double>::infinity();
  const TriedModel simple = tried({1, 1, 1, 1});
  TriedModel broken;
  for (std::vector<double>& blocks : broken.scores.blocks) blocks.assign(40, inf);
  EXPECT_FALSE(is_better(broken, simple));
  EXPECT_TRUE(is_better(simple, broken));
  EXPECT_FALSE(is_better(broken, broken));
}

}  // namespace
}  // namespace kalmia::train
