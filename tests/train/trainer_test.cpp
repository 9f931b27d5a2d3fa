#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kalmia/simulate.hpp"
#include "model/model_file.hpp"
#include "support/ensembles.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using Kind = model::NoiseSpec::Kind;

FitOptions trainer_options() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.hidden = 8;
  options.model.decoder = {8};
  options.train.updates = 60;
  options.train.batch = 32;
  return options;
}

// A static model and all that training needs beside it.
struct TrainerStage {
  Case c;
  model::NoiseSpec noise;
  FitOptions options = trainer_options();
  Split split;
  StaticResult start;
  FitNetworksSummary summary;
  double static_held_out = 0;
  NoiseBound bound;
  ThreadTeam team{1};

  TrainerStage(const Dataset& data, const std::string& prior, model::NoiseSpec the_noise)
      : c(data, prior), noise(std::move(the_noise)) {
    std::vector<int> lengths;
    for (const Series& series : data.series) lengths.push_back(series.steps);
    split = split_data(lengths, 0.2, 1);
    start = fit_static(c.description, c.channels, noise, c.scaled, split.training, team);
    static_held_out = held_out_loss(*start.alone<float>(), c.scaled, split.held_out, team);
  }

  std::unique_ptr<model::LearnedModel<float>> train(const Report& progress = {}) {
    return train(team, progress);
  }
  std::unique_ptr<model::LearnedModel<float>> train(ThreadTeam& with, const Report& progress = {}) {
    TrainedNetworks trained =
        train_networks({c.scaled, split, parse_options(options), with, progress, bound}, start,
                       noise, static_held_out);
    summary = trained.summary;
    return std::move(trained.model);
  }
};

TEST(DefaultUpdates, GrowWithTheDataWithinBounds) {
  EXPECT_EQ(default_updates(0, 1024), default_updates(100, 1024));
  EXPECT_GT(default_updates(100, 1024), 0);
  EXPECT_GT(default_updates(20000, 1024), default_updates(10000, 1024));
  EXPECT_EQ(default_updates(std::size_t{1} << 40, 1024),
            default_updates(std::size_t{1} << 45, 1024));
}

TEST(Trainer, ImprovesOnTheStaticModelAndSaysHow) {
  TrainerStage s(oscillator(1500), "constant-velocity", {});
  s.options.train.updates = 160;
  const std::unique_ptr<model::LearnedModel<float>> result = s.train();
  ASSERT_TRUE(result);
  EXPECT_TRUE(s.summary.kept);
  EXPECT_EQ(s.summary.stop_reason, StopReason::Finished);
  EXPECT_EQ(s.summary.updates, 160);
  EXPECT_EQ(s.summary.skipped_updates, 0);
  EXPECT_LT(s.summary.held_out, s.static_held_out - 0.03);
  // The model that comes back is the one of the best check.
  EXPECT_EQ(held_out_loss(*result, s.c.scaled, s.split.held_out, s.team), s.summary.held_out);
  EXPECT_EQ(s.summary.checks.size(), 80u);
  double lowest = s.static_held_out;
  int best_update = 0, before = 0;
  for (const FitCheck& check : s.summary.checks) {
    EXPECT_GT(check.update, before);
    before = check.update;
    EXPECT_TRUE(std::isfinite(check.loss));
    EXPECT_GT(check.learning_rate, 0);
    EXPECT_LE(check.learning_rate, 3e-3);
    if (check.held_out >= lowest - 1e-4) continue;
    lowest = check.held_out;
    best_update = check.update;
  }
  EXPECT_EQ(s.summary.held_out, lowest);
  EXPECT_EQ(s.summary.best_update, best_update);
  EXPECT_GT(s.summary.steps_per_second, 0);
}

TEST(Trainer, LearnsTheNoiseFromWhereTheStaticStageLeftIt) {
  for (const Kind kind : {Kind::LearnDiagonal, Kind::LearnFull}) {
    Dataset data = oscillator(1500);
    Dataset pair = data;
    pair.y_names = {"a", "b"};
    pair.series[0].y.clear();
    RandomStream random(5, "pair");
    for (std::size_t k = 0; k < 1500; ++k) {
      const double y = data.series[0].y[k], shared = 0.3 * random.normal();
      pair.series[0].y.push_back(y + shared);
      pair.series[0].y.push_back(data.series[0].y[1499 - k] + shared + 0.1 * random.normal());
    }
    TrainerStage s(pair, "constant-velocity", {kind, {}});
    s.options.train.updates = 40;
    s.options.train.learning_rate = 1e-3;
    const std::unique_ptr<model::LearnedModel<float>> result = s.train();
    ASSERT_TRUE(result);
    const std::vector<double>& R = result->emission().R();
    // Near it, for 40 small steps, correlation included; yet learned.
    EXPECT_NE(R, s.start.R);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(R[i], s.start.R[i], 0.1 * s.start.R[0]);
    const double correlation = R[1] / std::sqrt(R[0] * R[3]);
    if (kind == Kind::LearnFull) {
      EXPECT_GT(correlation, 0.2);
    } else {
      EXPECT_EQ(correlation, 0);
    }
    for (std::size_t m = 0; m < 2; ++m) EXPECT_GE(R[m * 3], s.start.noise_floor[m * 3]);
  }
}

TEST(Trainer, GivenNoiseStaysAsGiven) {
  TrainerStage s(oscillator(1500), "constant-velocity", {Kind::Given, {0.09}});
  s.options.train.updates = 40;
  const std::unique_ptr<model::LearnedModel<float>> result = s.train();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->emission().R(), s.start.R);
}

TEST(Trainer, InitialStatesAreLearnedFromManySeriesAlone) {
  for (const int count : {2, 90}) {
    SimulateOptions simulation;
    simulation.steps = 3000 / count;
    simulation.series = count;
    TrainerStage s(simulate("van-der-pol", simulation), "constant-velocity", {Kind::Given, {0.09}});
    const std::unique_ptr<model::LearnedModel<float>> result = s.train();
    ASSERT_TRUE(result);
    const heads::Architecture& architecture = result->architecture();
    const auto begin = static_cast<std::size_t>(architecture.initial_e);
    const auto learned = result->parameters();
    const auto untrained = s.start.with_networks<float>(8, {8}, 1);
    bool same = true;
    for (std::size_t i = begin; i < learned.size(); ++i)
      same = same && learned[i] == untrained->parameters()[i];
    EXPECT_EQ(same, count < 64) << count;
  }
}

TEST(Trainer, SameSeedSameBytesWithOneThreadAndTwo) {
  const auto bytes = [](int threads, std::uint64_t seed) {
    TrainerStage s(oscillator(4000), "constant-velocity", {});
    s.options.train.batch = 64;  // two groups
    s.options.train.updates = 30;
    s.options.train.seed = seed;
    ThreadTeam team(threads);
    const std::unique_ptr<model::LearnedModel<float>> result = s.train(team);
    return result ? test::file_bytes(*result) : std::string();
  };
  const std::string one = bytes(1, 3);
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(one, bytes(2, 3));
  EXPECT_NE(one, bytes(1, 4));
}

TEST(Trainer, PatienceEndsIt) {
  // Nothing to learn: a random walk with noise is what the static model says.
  TrainerStage s(dataset_of({local_level(1500, 1, 1, 3)}), "constant-position", {});
  s.options.train.updates = 1000;
  s.options.train.patience = 2;
  s.train();
  EXPECT_EQ(s.summary.stop_reason, StopReason::Patience);
  EXPECT_LT(s.summary.updates, 500);
  // The second check after the best one; those of the first 150 updates do not count. Where none
  // was better than the start, two more checks at two smaller rates came first.
  constexpr int kEvery = 1000 / 80;
  const int restarts = s.summary.best_update == 0 ? 2 : 0;
  EXPECT_EQ(s.summary.updates,
            (std::max(s.summary.best_update, 150) / kEvery + 2 + restarts) * kEvery);
}

TEST(Trainer, StopsWhereTheNoiseIsPredicted) {
  TrainerStage s(oscillator(1500), "constant-velocity", {});
  s.bound.held_out_steps = 300;
  s.bound.loss = s.static_held_out + 1;
  s.train();
  EXPECT_EQ(s.summary.stop_reason, StopReason::NoisePredicted);
  EXPECT_EQ(s.summary.updates, 1);
  EXPECT_FALSE(s.summary.kept);
}

TEST(Trainer, InterruptedItReturnsTheBestSoFar) {
  TrainerStage s(oscillator(1500), "constant-velocity", {});
  s.options.train.updates = 1000000;
  s.options.train.patience = 1000000;
  int reports = 0;
  const std::unique_ptr<model::LearnedModel<float>> result = s.train([&](FitProgress& now) {
    EXPECT_EQ(now.stage, "networks");
    EXPECT_EQ(now.updates, 1000000);
    EXPECT_GE(now.update, 1);
    EXPECT_GT(now.steps_per_second, 0);
    EXPECT_GT(now.seconds_left, 0);
    return ++reports < 2;
  });
  EXPECT_EQ(s.summary.stop_reason, StopReason::Interrupted);
  EXPECT_EQ(reports, 2);
  EXPECT_FALSE(result);  // no check was due yet
  EXPECT_EQ(s.summary.held_out, s.static_held_out);
}

// Windows in which nothing was measured are no failures.
TEST(Trainer, LongGaps) {
  std::vector<double> y = oscillator(3000).series[0].y;
  for (std::size_t k = 0; k < y.size(); ++k)
    if (k % 1500 >= 400) y[k] = kMissing;
  TrainerStage s(dataset_of({y}), "constant-velocity", {});
  s.options.train.window = 2;
  s.options.train.batch = 16;
  s.options.train.updates = 500;
  // All lanes side by side at the start: then they come to the gap together.
  s.split.training = {{0, 0, 40}, {0, 380, 1400}};
  s.split.held_out = {{{0, 1436, 1900}, 1500}};
  s.static_held_out = held_out_loss(*s.start.alone<float>(), s.c.scaled, s.split.held_out, s.team);
  s.train();
  EXPECT_EQ(s.summary.skipped_updates, 0);
  EXPECT_EQ(s.summary.rate_cuts, 0);
}

// A rate of 1 throws the networks about; what comes back is no worse than the static model.
TEST(Trainer, AMuchTooHighRateDestroysNothing) {
  Dataset data = oscillator(1500);
  SpoilOptions spoil_options;
  spoil_options.outliers = 0.03;
  spoil_options.outlier_size = 30;
  spoil(data, spoil_options, 2);
  for (const Kind kind : {Kind::LearnDiagonal, Kind::Given}) {
    TrainerStage s(data, "constant-velocity",
                   {kind, kind == Kind::Given ? std::vector<double>{0.09} : std::vector<double>{}});
    s.options.train.learning_rate = 1;
    s.options.train.clip_norm = 0;
    s.options.train.weight_decay = 100;
    s.options.train.patience = 1000;
    s.options.train.updates = 150;
    const std::unique_ptr<model::LearnedModel<float>> result = s.train();
    EXPECT_LE(s.summary.held_out, s.static_held_out);
    EXPECT_LE(s.summary.rate_cuts, 4);
    if (result) {
      EXPECT_EQ(held_out_loss(*result, s.c.scaled, s.split.held_out, s.team), s.summary.held_out);
    }
  }
}

}  // namespace
}  // namespace kalmia::train
