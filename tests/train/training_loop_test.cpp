#include "train/training_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nn/adam.hpp"

namespace kalmia::train {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Losses by formula; remembers what was asked of it.
class FakeTrainee : public Trainee {
 public:
  std::function<std::optional<double>(int update)> loss = [](int) { return 1.0; };
  std::function<double(int update)> held_out = [](int) { return 1.0; };

  std::optional<double> train_once(double rate) override {
    rates.push_back(rate);
    return loss(update());
  }
  int steps() const override { return 10; }
  double check() override { return held_out(update()); }
  void keep() override { kept.push_back(update()); }
  void go_back() override { went_back.push_back(update()); }

  int update() const { return static_cast<int>(rates.size()); }
  std::vector<double> rates;
  std::vector<int> kept, went_back;
};

LoopResult run(FakeTrainee& trainee, int updates, double start_loss = 1,
               const std::function<bool(double)>& too_good = {}, int patience = 1000000) {
  TrainOptions options;
  options.learning_rate = 0.5;
  options.patience = patience;
  LoopOptions loop;
  loop.stage = "fake";
  loop.updates = updates;
  loop.start_loss = start_loss;
  loop.too_good = too_good;
  return run_training(trainee, options, loop, {});
}

TEST(TrainingLoop, RecordsAFixedNumberOfChecks) {
  FakeTrainee trainee;
  trainee.loss = [](int update) { return update; };
  trainee.held_out = [](int update) { return 1000 - update; };
  const LoopResult result = run(trainee, 250, 1000);
  EXPECT_EQ(result.stop_reason, StopReason::Finished);
  EXPECT_EQ(result.updates, 250);
  EXPECT_EQ(trainee.update(), 250);
  EXPECT_EQ(result.skipped_updates, 0);
  EXPECT_EQ(result.rate_cuts, 0);
  // Every third update, and the last.
  ASSERT_EQ(result.checks.size(), 84u);
  int before = 0;
  for (const FitCheck& check : result.checks) {
    EXPECT_EQ(check.update, std::min(before + 3, 250));
    // The mean of the updates since the check before.
    EXPECT_DOUBLE_EQ(check.loss, 0.5 * (before + 1 + check.update));
    EXPECT_EQ(check.held_out, 1000 - check.update);
    EXPECT_EQ(check.learning_rate, 0.5 * trainee.rates[static_cast<std::size_t>(check.update - 1)]);
    before = check.update;
  }
  EXPECT_GT(result.seconds, 0);
  EXPECT_NEAR(result.steps_per_second * result.seconds, 2500, 1e-6);
}

TEST(TrainingLoop, TheRateRisesAndFalls) {
  FakeTrainee trainee;
  run(trainee, 1000);
  const auto top = std::max_element(trainee.rates.begin(), trainee.rates.end());
  EXPECT_NEAR(*top, 1, 0.05);
  EXPECT_NEAR(static_cast<double>(top - trainee.rates.begin()), 50, 1);
  EXPECT_LT(trainee.rates.front(), 0.05);
  EXPECT_LT(trainee.rates.back(), 0.02);
  EXPECT_TRUE(std::is_sorted(trainee.rates.begin(), top));
  EXPECT_TRUE(std::is_sorted(top, trainee.rates.end(), std::greater<>()));
}

TEST(TrainingLoop, KeepsTheBest) {
  FakeTrainee trainee;
  trainee.held_out = [](int update) { return 1 + 0.1 * std::abs(update - 30) - 0.5; };
  const LoopResult result = run(trainee, 60);
  EXPECT_EQ(result.best_update, 30);
  EXPECT_EQ(result.best_held_out, 0.5);
  // From where it beats the start on, each was better than the one before.
  EXPECT_EQ(trainee.kept, (std::vector<int>{26, 27, 28, 29, 30}));
}

TEST(TrainingLoop, WhatIsHardlyBetterIsNotBetter) {
  for (const double held_out : {1.0, 1 - 0.5e-4, 2.0, kNaN, 1.0 / 0.0}) {
    FakeTrainee trainee;
    trainee.held_out = [&](int) { return held_out; };
    const LoopResult result = run(trainee, 20);
    EXPECT_EQ(result.best_update, 0) << held_out;
    EXPECT_EQ(result.best_held_out, 1) << held_out;
    EXPECT_TRUE(trainee.kept.empty()) << held_out;
    EXPECT_EQ(result.checks.size(), 20u);
  }
}

// Checks are 12 updates apart; those up to update 150 do not try the patience.
TEST(TrainingLoop, PatienceEndsIt) {
  FakeTrainee trainee;
  trainee.held_out = [](int update) { return update < 12 ? 1 : 0.5; };
  const LoopResult plain = run(trainee, 1000, 1, {}, 3);
  EXPECT_EQ(plain.stop_reason, StopReason::Patience);
  EXPECT_EQ(plain.updates, 180);
  EXPECT_EQ(trainee.update(), 180);
  EXPECT_EQ(plain.restarts, 0);

  FakeTrainee late;
  late.held_out = [](int update) { return update < 12 ? 1 : update < 168 ? 0.7 : 0.5; };
  const LoopResult renewed = run(late, 1000, 1, {}, 3);
  EXPECT_EQ(renewed.stop_reason, StopReason::Patience);
  EXPECT_EQ(renewed.best_update, 168);
  EXPECT_EQ(renewed.updates, 168 + 3 * 12);
}

// A third of the patience at each of two rates, then all of it at the third.
TEST(TrainingLoop, ItBeginsAgainAtASmallerRateWhereNothingIsBetterThanTheStart) {
  FakeTrainee plain, trainee;
  plain.held_out = [](int) { return 0.5; };
  run(plain, 1000);
  trainee.held_out = [](int) { return 2.0; };
  const LoopResult result = run(trainee, 1000, 1, {}, 6);
  EXPECT_EQ(result.stop_reason, StopReason::Patience);
  EXPECT_EQ(result.restarts, 2);
  EXPECT_EQ(trainee.went_back, (std::vector<int>{168, 192}));
  EXPECT_EQ(result.updates, 192 + 6 * 12);
  EXPECT_EQ(result.rate_cuts, 0);
  EXPECT_EQ(trainee.rates[167], plain.rates[167]);
  EXPECT_DOUBLE_EQ(trainee.rates[168], plain.rates[168] / 3);
  EXPECT_DOUBLE_EQ(trainee.rates[192], plain.rates[192] / 9);
}

TEST(TrainingLoop, FiveFailuresInARowHalveTheRateAndGoBack) {
  FakeTrainee plain, trainee;
  run(plain, 100);
  // Four, and four with a good one between, cost nothing; five do.
  trainee.loss = [](int update) {
    const bool fails =
        update <= 4 || (update >= 6 && update <= 9) || (update >= 31 && update <= 35);
    return fails ? kNaN : 1.0;
  };
  const LoopResult result = run(trainee, 100);
  EXPECT_EQ(result.stop_reason, StopReason::Finished);
  EXPECT_EQ(result.skipped_updates, 13);
  EXPECT_EQ(result.rate_cuts, 1);
  EXPECT_EQ(trainee.went_back, std::vector<int>{35});
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(trainee.rates[i], plain.rates[i] * (i < 35 ? 1 : 0.5)) << i;
  EXPECT_EQ(result.checks.back().learning_rate, 0.5 * trainee.rates.back());
  // A check that saw only failures has no training loss.
  EXPECT_TRUE(std::isnan(result.checks[1].loss));
  EXPECT_EQ(result.checks[4].loss, 1);
}

TEST(TrainingLoop, DataWithoutValuesAreNoFailure) {
  FakeTrainee trainee;
  trainee.loss = [](int) { return std::nullopt; };
  const LoopResult result = run(trainee, 100);
  EXPECT_EQ(result.stop_reason, StopReason::Finished);
  EXPECT_EQ(result.skipped_updates, 0);
  EXPECT_TRUE(trainee.went_back.empty());
  EXPECT_TRUE(std::isnan(result.checks.back().loss));
}

TEST(TrainingLoop, FailuresThatGoOnEndIt) {
  FakeTrainee trainee;
  trainee.loss = [](int) { return std::numeric_limits<double>::infinity(); };
  const LoopResult result = run(trainee, 100);
  EXPECT_EQ(result.stop_reason, StopReason::Failures);
  EXPECT_EQ(result.updates, 25);
  EXPECT_EQ(result.skipped_updates, 25);
  EXPECT_EQ(result.rate_cuts, 4);
  EXPECT_EQ(trainee.went_back, (std::vector<int>{5, 10, 15, 20}));
}

TEST(TrainingLoop, AHeldOutLossTooGoodToBeHonestEndsIt) {
  FakeTrainee trainee;
  trainee.held_out = [](int update) { return 1 - 0.1 * update; };
  const LoopResult result = run(trainee, 50, 1, [](double loss) { return loss < 0.45; });
  EXPECT_EQ(result.stop_reason, StopReason::NoisePredicted);
  EXPECT_EQ(result.updates, 6);
  EXPECT_EQ(result.checks.size(), 6u);
  EXPECT_EQ(result.best_update, 5);  // what was honest stays
  EXPECT_EQ(trainee.kept.back(), 5);
}

TEST(TrainingLoop, ProgressIsToldAndMayEndIt) {
  FakeTrainee trainee;
  TrainOptions options;
  options.patience = 1000000;
  LoopOptions loop;
  loop.stage = "fake";
  loop.updates = 1 << 30;
  loop.start_loss = 1;
  int reports = 0;
  const LoopResult result = run_training(trainee, options, loop, [&](FitProgress& now) {
    EXPECT_EQ(now.stage, "fake");
    EXPECT_EQ(now.updates, 1 << 30);
    EXPECT_EQ(now.update, trainee.update());
    EXPECT_EQ(now.loss, 1);
    EXPECT_TRUE(std::isnan(now.held_out));
    EXPECT_EQ(now.best_held_out, 1);
    EXPECT_GT(now.steps_per_second, 0);
    EXPECT_GT(now.seconds_left, 0);
    return ++reports < 2;
  });
  EXPECT_EQ(result.stop_reason, StopReason::Interrupted);
  EXPECT_EQ(reports, 2);
  EXPECT_EQ(result.updates, trainee.update());
  EXPECT_GE(result.seconds, 0.2);
  EXPECT_LT(result.seconds, 20);

  // The last update is reported however soon it comes.
  FakeTrainee quick;
  loop.updates = 3;
  FitProgress last;
  run_training(quick, options, loop, [&](FitProgress& now) {
    last = now;
    return true;
  });
  EXPECT_EQ(last.update, 3);
  EXPECT_EQ(last.held_out, 1);
}

TEST(TrainingLoop, DefaultUpdatesAreSoManyPassesWithinBounds) {
  EXPECT_EQ(default_updates(0, 1024), 400);
  EXPECT_EQ(default_updates(4096, 1024), 1000);
  EXPECT_EQ(default_updates(8192, 1024), 2000);
  EXPECT_EQ(default_updates(8192, 2048), 1000);
  EXPECT_EQ(default_updates(std::size_t{1} << 45, 1024), 8000);
}

}  // namespace
}  // namespace kalmia::train
