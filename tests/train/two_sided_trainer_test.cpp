#include "train/two_sided_trainer.hpp"

#include <gtest/gtest.h>

#include "infer/model_impl.hpp"
#include "infer/two_sided_run.hpp"
#include "model/model_file.hpp"
#include "support/ensembles.hpp"
#include "train/fusion_cases.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

struct TwoSidedStage : SmootherTraining {
  TwoSidedStage(const Dataset& data, const std::string& kind) : SmootherTraining(data, kind, 150) {}
};

TEST(TwoSidedTrainer, TheSmootherPredictsHeldOutMeasurementsBetterThanTheFilter) {
  for (const char* kind : {"recurrent", "recursive", "recursive-alternative"}) {
    SCOPED_TRACE(kind);
    TwoSidedStage s(oscillator(2000), kind);
    if (std::string(kind) != "recurrent") s.options.train.updates = 40;  // it starts as the filter
    const std::string before = test::file_bytes(*s.model);
    s.train(s.team);
    ASSERT_TRUE(s.summary.kept);
    EXPECT_EQ(s.summary.kind, kind);
    EXPECT_LT(s.summary.held_out, s.filter_held_out);
    ASSERT_NE(s.model->smoother(), nullptr);
    EXPECT_EQ(smoother_name(s.model->description().smoother.kind), kind);
    // The filter is as it was.
    s.model->set_smoother({}, {});
    EXPECT_EQ(test::file_bytes(*s.model), before);
  }
}

TEST(TwoSidedTrainer, SameSeedSameBytesWithOneThreadAndTwo) {
  const auto bytes = [](int threads, std::uint64_t seed) {
    TwoSidedStage s(oscillator(6000), "recursive");
    s.options.train.batch = 64;  // two groups
    s.options.train.window = 16;
    s.options.train.updates = 8;
    s.options.train.seed = seed;
    s.filter_held_out = 100;
    ThreadTeam team(threads);
    s.train(team);
    EXPECT_TRUE(s.summary.kept);
    return test::file_bytes(*s.model);
  };
  const std::string one = bytes(1, 3);
  EXPECT_EQ(one, bytes(2, 3));
  EXPECT_NE(one, bytes(1, 4));
}

TEST(TwoSidedTrainer, ASmootherThatIsNotBetterIsDropped) {
  TwoSidedStage s(oscillator(2000), "recurrent");
  const std::string before = test::file_bytes(*s.model);
  s.options.train.updates = 20;
  s.filter_held_out = -100;
  s.train(s.team);
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.model->smoother(), nullptr);
  EXPECT_EQ(test::file_bytes(*s.model), before);
}

// Below the honest bound the noise itself is predicted: training ends, and what was honest is kept.
TEST(TwoSidedTrainer, StopsWhereTheNoiseIsPredicted) {
  TwoSidedStage s(oscillator(2000), "recursive");
  s.bound.held_out_steps = 300;
  s.bound.loss = s.filter_held_out + 100;
  s.train(s.team);
  EXPECT_EQ(s.summary.stop_reason, StopReason::NoisePredicted);
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.model->smoother(), nullptr);
}

TEST(TwoSidedTrainer, ItsModelFileSmoothsAlike) {
  TwoSidedStage s(oscillator(2000), "recurrent");
  s.options.train.updates = 60;
  s.filter_held_out = 100;
  s.train(s.team);
  ASSERT_TRUE(s.summary.kept);
  const std::string bytes = test::file_bytes(*s.model);
  const model::Ensemble read = model::parse_model_file(bytes, "a file");
  EXPECT_EQ(model::model_file_bytes(read), bytes);
  const Model first = test::model_of(std::move(s.model));
  const Model second = test::model_of(read.members);
  const Estimates a = first.smooth(s.c.data), b = second.smooth(s.c.data);
  EXPECT_EQ(a.series[0].mean, b.series[0].mean);
  EXPECT_EQ(a.series[0].covariance, b.series[0].covariance);
  EXPECT_NE(a.series[0].mean, first.smooth(s.c.data, 1, {"linearized"}).series[0].mean);
  EXPECT_EQ(first.leak(s.c.data), second.leak(s.c.data));
}

}  // namespace
}  // namespace kalmia::train
