#include "train/fit_context.hpp"

#include <gtest/gtest.h>

#include <set>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

TEST(FitContext, SeedsAreTheirOwn) {
  EXPECT_EQ(member_seed(7, 0), 7u);
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t seed : {1, 2})
    for (int k = 0; k < 5; ++k) seeds.insert(member_seed(seed, k));
  EXPECT_EQ(seeds.size(), 10u);
}

TEST(FitContext, AMemberHasItsSeedAndItsNumber) {
  const Case c(dataset_of({local_level(50, 1, 1, 3)}), "constant-position");
  ThreadTeam team(1);
  const Split split;
  std::string told;
  TrainingContext context{c.scaled, split, {}, team, {}, {}};
  context.spec.train.seed = 7;
  EXPECT_FALSE(context.of_member(1, 2, 3).progress);
  context.progress = [&](FitProgress& now) {
    told = now.stage;
    return false;
  };
  const TrainingContext second = context.of_member(1, 2, 3);
  EXPECT_EQ(second.spec.train.seed, member_seed(7, 1));
  FitProgress now;
  now.stage = "networks";
  EXPECT_FALSE(second.progress(now));
  EXPECT_EQ(told, "networks 2/3");
  EXPECT_EQ(now.stage, "networks");
  // One alone is not numbered.
  context.of_member(0, 1, 1).progress(now);
  EXPECT_EQ(told, "networks");
  EXPECT_EQ(context.spec.train.seed, 7u);
}

// Under heavy tails the statistics are those without outliers.
TEST(FitContext, OutliersCountOnlyWhereNoiseIsGaussian) {
  std::vector<double> y = local_level(800, 1, 1, 3);
  for (std::size_t k = 50; k < y.size(); k += 100) y[k] += 1e4;
  const Dataset data = dataset_of({y});
  FitSpec spec;
  ThreadTeam team(1);
  ProgressReport report({});
  const FitData checked(data, spec.model);
  const DataOptions columns;
  const FitContext gaussian(checked, spec, columns, team, report);
  EXPECT_EQ(gaussian.holdout.values, 800);
  EXPECT_FALSE(gaussian.little_data());
  spec.model.tails = model::StudentTails{4};
  const FitContext student(checked, spec, columns, team, report);
  EXPECT_LT(student.channels[0].step, 0.1 * gaussian.channels[0].step);
}

}  // namespace
}  // namespace kalmia::train
