#include "train/fusion_trainer.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "infer/model_impl.hpp"
#include "model/model_file.hpp"
#include "support/ensembles.hpp"
#include "train/fusion_cases.hpp"
#include "train/member_smoothers.hpp"

namespace kalmia::train {
namespace {

struct Stage : SmootherTraining {
  explicit Stage(const Dataset& data) : SmootherTraining(data, "fused", 200) {}

  // The loss of held-out measurements, each given all others.
  double smoother_loss(const ScaledData& scaled, const std::vector<HeldOut>& held_out) {
    std::vector<StepRange> stretches;
    Measured measured;
    for (const HeldOut& each : held_out) {
      stretches.push_back(each.stretch);
      measured.add(scaled.measured({each.stretch.series, each.score_from, each.stretch.end}));
    }
    const FusionData data(*model, scaled, stretches, 0, 1, team);
    double nll = 0;
    infer::run_fusion(
        *model, data.views(), {}, team,
        [&](int p, int last, int count, const infer::LaneMoments& moments) {
          const HeldOut& each = held_out[static_cast<std::size_t>(p)];
          for (int j = 0; j < count; ++j)
            if (each.stretch.begin + last - j >= each.score_from) nll += moments.nll(j);
        },
        [](int) { return std::string(); });
    return measured.loss(nll);
  }
};

TEST(FusionTrainer, TheSmootherPredictsHeldOutMeasurementsBetterThanTheFilter) {
  Stage s(oscillator(2000));
  const std::string before = test::file_bytes(*s.model);
  std::string stage;
  s.train(s.team, [&](FitProgress& now) {
    stage = now.stage;
    return true;
  });
  EXPECT_EQ(stage, "smoother");
  EXPECT_TRUE(s.summary.kept);
  ASSERT_NE(s.model->smoother(), nullptr);
  EXPECT_EQ(s.model->description().smoother.hidden, 8);
  EXPECT_EQ(s.summary.updates, 200);
  EXPECT_GT(s.summary.best_update, 0);
  EXPECT_GT(s.summary.seconds, 0);
  EXPECT_LT(s.summary.held_out, s.filter_held_out - 0.1);
  // What comes back is the model of the best check; the filter is as it was.
  EXPECT_NEAR(s.smoother_loss(s.c.scaled, s.split.held_out), s.summary.held_out, 1e-9);
  EXPECT_EQ(held_out_loss(*s.model, s.c.scaled, s.split.held_out, s.team), s.filter_held_out);
  s.model->set_smoother({}, {});
  EXPECT_EQ(test::file_bytes(*s.model), before);
}

TEST(FusionTrainer, SameSeedSameBytesWithOneThreadAndTwo) {
  const auto bytes = [](int threads, std::uint64_t seed) {
    Stage s(oscillator(5000));
    s.options.train.batch = 64;  // two groups
    s.options.train.updates = 40;
    s.options.train.seed = seed;
    ThreadTeam team(threads);
    s.train(team);
    EXPECT_TRUE(s.summary.kept);
    return test::file_bytes(*s.model);
  };
  const std::string one = bytes(1, 3);
  EXPECT_EQ(one, bytes(2, 3));
  EXPECT_NE(one, bytes(1, 4));
}

TEST(FusionTrainer, ASmootherThatIsNotBetterIsDropped) {
  Stage s(oscillator(2000));
  const std::string before = test::file_bytes(*s.model);
  s.options.train.updates = 20;
  s.filter_held_out = -100;
  s.train(s.team);
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.summary.best_update, 0);
  EXPECT_EQ(s.summary.updates, 20);
  EXPECT_EQ(s.model->smoother(), nullptr);
  EXPECT_EQ(test::file_bytes(*s.model), before);
}

TEST(FusionTrainer, StopsWhereTheNoiseIsPredicted) {
  Stage s(oscillator(2000));
  s.bound.held_out_steps = 300;
  s.bound.loss = s.filter_held_out + 100;
  s.train(s.team);
  EXPECT_EQ(s.summary.updates, 2);  // the first check
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.model->smoother(), nullptr);
}

TEST(FusionTrainer, ItsModelFileSmoothsAlike) {
  Stage s(oscillator(2000));
  s.options.train.updates = 40;
  s.train(s.team);
  ASSERT_TRUE(s.summary.kept);
  const std::string bytes = test::file_bytes(*s.model);
  const model::Ensemble read = model::parse_model_file(bytes, "a file");
  ASSERT_NE(read.first().smoother(), nullptr);
  EXPECT_TRUE(
      std::ranges::equal(read.first().smoother()->parameters(), s.model->smoother()->parameters()));
  EXPECT_EQ(model::model_file_bytes(read), bytes);
  const Model first = test::model_of(std::move(s.model));
  const Model second = test::model_of(read.members);
  const Estimates a = first.smooth(s.c.data), b = second.smooth(s.c.data);
  EXPECT_EQ(a.series[0].mean, b.series[0].mean);
  EXPECT_EQ(a.series[0].covariance, b.series[0].covariance);
  EXPECT_NE(a.series[0].mean, first.filter(s.c.data).series[0].mean);
}

// More held-out steps than are kept: the second stretch is left out, in the filter's loss too.
TEST(FusionTrainer, ThinnedHeldOutDataAreScoredWhereTheyCount) {
  constexpr int kLong = 200000;
  Stage s(oscillator(2000));
  // The same again and again, and a noisier series.
  const std::vector<double>& once = s.c.data.series[0].y;
  std::vector<double> y, noisy;
  RandomStream random(5, "noise");
  for (std::size_t k = 0; k < kLong; ++k) {
    y.push_back(once[k % once.size()]);
    noisy.push_back(y.back() + 2 * random.normal());
  }
  const Dataset data = dataset_of({y, noisy});
  const ScaledData scaled(data, s.c.description.units, s.c.description.dt);
  Split split;
  split.training = {{0, 0, 2000}};
  split.held_out = {{{0, 0, kLong}, 64}, {{0, 0, kLong}, kLong - 10}, {{1, 0, kLong}, 64}};
  ASSERT_GT(3 * kLong, kMostFusionSteps);
  const std::vector<HeldOut> kept = {split.held_out[0], split.held_out[2]};
  const double filter = held_out_loss(*s.model, scaled, kept, s.team);
  s.filter_held_out = -100;  // of all: must not count
  s.options.train.updates = 1;
  s.summary = train_smoother({scaled, split, parse_options(s.options), s.team, {}, s.bound},
                             *s.model, s.filter_held_out);
  ASSERT_TRUE(s.summary.kept);
  EXPECT_LT(s.summary.held_out, filter);
  EXPECT_NEAR(s.summary.held_out, s.smoother_loss(scaled, kept), 1e-9);
}

}  // namespace
}  // namespace kalmia::train
