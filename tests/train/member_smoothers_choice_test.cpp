#include <gtest/gtest.h>

#include <cmath>

#include "infer/leak.hpp"
#include "infer/model_impl.hpp"
#include "support/ensembles.hpp"
#include "train/fusion_cases.hpp"
#include "train/member_smoothers.hpp"

namespace kalmia::train {
namespace {

// A smoother that is better than the filter, which is static.
struct Trained : SmootherTraining {
  explicit Trained(const std::string& kind = "fused", int updates = 200, double tails = 0)
      : SmootherTraining(oscillator(3000), kind, updates, tails) {
    train(team);
    EXPECT_TRUE(summary.kept);
  }
  void choose(bool keep) {
    options.model.keep_smoother = keep;
    summary = choose_smoother(context(team), *model, summary);
  }

  double true_error(const std::string& method) {
    const Model smoother = test::model_of(std::move(model));
    const Dataset other = oscillator(20000, 2);
    const Estimates found = smoother.smooth(other, 1, {method});
    double sum = 0;
    for (int k = 0; k < other.series[0].steps; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const std::size_t N = found.state_names.size(), X = other.x_names.size();
      sum += std::pow(found.series[0].mean[i * N] - other.series[0].x[i * X], 2);
    }
    return sum / other.series[0].steps;
  }
};

TEST(SmootherChoice, TheLinearizedOneIsTakenWhereItIsBetter) {
  Trained s;
  s.choose(false);
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.model->smoother(), nullptr);
  EXPECT_GT(s.summary.risk, s.summary.linearized_risk);
  EXPECT_GT(s.summary.linearized_risk, 0);
  // And rightly so.
  Trained networks, linearized;
  EXPECT_GT(networks.true_error("fused"), linearized.true_error("linearized"));
}

TEST(SmootherChoice, IsMadeUnderStudentNoise) {
  Trained s("fused", 200, 10);
  s.choose(false);
  EXPECT_TRUE(std::isfinite(s.summary.risk));
  EXPECT_TRUE(std::isfinite(s.summary.linearized_risk));
  EXPECT_EQ(s.summary.kept, s.summary.risk < s.summary.linearized_risk);
  Trained networks("fused", 200, 10), linearized("fused", 200, 10);
  EXPECT_EQ(s.summary.kept, networks.true_error("fused") < linearized.true_error("linearized"));
}

TEST(SmootherChoice, TheTrainedOneStaysIfItIsBetterOrWanted) {
  Trained wanted;
  wanted.choose(true);
  EXPECT_TRUE(wanted.summary.kept);
  EXPECT_NE(wanted.model->smoother(), nullptr);
  EXPECT_GT(wanted.summary.risk, wanted.summary.linearized_risk);

  // A static model of the position knows nothing of where it goes.
  SmootherTraining better(oscillator(3000), "recurrent", 400);
  FusionFixture position(better.c.data);
  position.model->set_smoother({}, {});
  better.model = std::move(position.model);
  better.filter_held_out =
      held_out_loss(*better.model, position.c.scaled, better.split.held_out, better.team);
  const TrainingContext context{position.c.scaled, better.split, parse_options(better.options),
                                better.team,       {},           better.bound};
  better.summary = train_smoother(context, *better.model, better.filter_held_out);
  ASSERT_TRUE(better.summary.kept);
  better.summary = choose_smoother(context, *better.model, better.summary);
  EXPECT_TRUE(better.summary.kept);
  EXPECT_NE(better.model->smoother(), nullptr);
  EXPECT_LT(better.summary.risk, better.summary.linearized_risk);
}

TEST(SmootherChoice, ASmootherThatFailsIsNotKept) {
  Trained s;
  const std::vector<float> broken(s.model->smoother()->parameters().size(), 1e30f);
  s.model->set_smoother_parameters(broken);
  s.choose(false);
  EXPECT_TRUE(std::isnan(s.summary.risk));
  EXPECT_GT(s.summary.linearized_risk, 0);
  EXPECT_FALSE(s.summary.kept);
  EXPECT_EQ(s.model->smoother(), nullptr);
}

TEST(SmootherChoice, SaysHowMuchLeaks) {
  Trained s("recursive", 40);
  s.choose(true);
  EXPECT_EQ(s.summary.leak,
            infer::measure_leak(*s.model, views_with_future(s.c.scaled, s.split.held_out), s.team));
  EXPECT_NE(s.summary.leak, 0);
}

TEST(SmootherChoice, WithoutASmootherThereIsNothingToChoose) {
  Trained s;
  s.model->set_smoother({}, {});
  s.summary = {};
  s.choose(false);
  EXPECT_TRUE(std::isnan(s.summary.risk));
  EXPECT_TRUE(std::isnan(s.summary.linearized_risk));
}

}  // namespace
}  // namespace kalmia::train
