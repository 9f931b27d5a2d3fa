#include "train/member_smoothers.hpp"

#include <gtest/gtest.h>

#include "train/fusion_cases.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

std::vector<float> numbers(const model::LearnedModel<float>& model) {
  return {model.parameters().begin(), model.parameters().end()};
}

FitOptions smoother_options() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.hidden = 12;
  options.model.decoder = {12};
  options.model.smoother = "fused";
  options.model.keep_smoother = true;
  options.train.updates = 40;
  options.train.batch = 16;
  return options;
}

// The best is told, the time is that of all, and each is numbered and has a seed of its own.
TEST(MemberSmoothers, EachMemberGetsItsOwn) {
  SmootherTraining one(oscillator(1500), "fused", 40), two(oscillator(1500), "fused", 40);
  std::vector<Member> members;
  members.push_back({0, std::move(one.model), one.filter_held_out});
  members.push_back({2, std::move(two.model), two.filter_held_out});
  std::vector<std::string> stages;
  one.options.model.keep_smoother = true;
  const TrainedSmoothers trained =
      train_smoothers(one.context(one.team,
                                  [&](FitProgress& now) {
                                    if (stages.empty() || stages.back() != now.stage)
                                      stages.push_back(now.stage);
                                    return true;
                                  }),
                      members);
  EXPECT_EQ(stages, (std::vector<std::string>{"smoother 1/2", "smoother 2/2"}));
  EXPECT_EQ(trained.kept_by, (std::vector<int>{0, 2}));
  EXPECT_TRUE(trained.notes.empty());
  ASSERT_TRUE(trained.best);
  EXPECT_TRUE(trained.best->kept);
  EXPECT_LT(trained.best->held_out, one.filter_held_out);
  EXPECT_FALSE(std::ranges::equal(members[0].model->smoother()->parameters(),
                                  members[1].model->smoother()->parameters()));
}

TEST(MemberSmoothers, AUserWhoStopsGetsNoMore) {
  SmootherTraining one(oscillator(1500), "fused", 40), two(oscillator(1500), "fused", 40);
  std::vector<Member> members;
  members.push_back({0, std::move(one.model), one.filter_held_out});
  members.push_back({1, std::move(two.model), two.filter_held_out});
  const TrainedSmoothers trained =
      train_smoothers(one.context(one.team, [](FitProgress&) { return false; }), members);
  ASSERT_TRUE(trained.best);
  EXPECT_EQ(trained.best->stop_reason, StopReason::Interrupted);
  EXPECT_EQ(members[1].model->smoother(), nullptr);
}

// The training of a smoother that breaks down leaves the filter, and a note.
TEST(MemberSmoothers, OneThatBreaksDownCostsNoFilter) {
  SimulateOptions simulation;
  simulation.steps = 600;
  const Dataset data = simulate("lorenz", simulation);
  Case c(data, test::named("lorenz"));
  ThreadTeam team(1);
  const StaticResult fitted =
      fit_static(c.description, c.channels, {}, c.scaled, c.everything(), team);
  Dataset broken = data;
  broken.series[0].y[300] = 1e300;
  const ScaledData scaled(broken, c.description.units, c.description.dt);
  std::vector<Member> members;
  members.push_back({0, fitted.alone<float>(), 1.0});
  const std::vector<float> before = numbers(*members[0].model);
  const Split split = split_data({600}, 0.2, 1);
  const TrainedSmoothers trained =
      train_smoothers({scaled, split, parse_options(smoother_options()), team, {}, {}}, members);
  EXPECT_FALSE(trained.best);
  EXPECT_TRUE(trained.kept_by.empty());
  EXPECT_EQ(members[0].model->smoother(), nullptr);
  EXPECT_EQ(numbers(*members[0].model), before);
  ASSERT_EQ(trained.notes.size(), 1u);
  EXPECT_EQ(trained.notes[0].rfind(
                "the fused smoother could not be trained, so that the linearized one serves (the "
                "smoother's training data, step ",
                0),
            0u)
      << trained.notes[0];
}

}  // namespace
}  // namespace kalmia::train
