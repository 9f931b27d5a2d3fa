#include <gtest/gtest.h>

#include "train/fit_data.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

Holdout holdout_of(const FitData& data) {
  return choose_holdout(data, model::channel_statistics(data.training()), {});
}

TEST(HoldoutChoice, AShareOfTheDataThatHaveAnEndWithoutValues) {
  std::vector<double> y = local_level(1000, 1, 1, 3);
  y.resize(1500, kMissing);
  const Dataset data = dataset_of({y});
  const FitData checked(data, {});
  EXPECT_EQ(checked.empty_end_steps(), 500u);
  const Holdout holdout = holdout_of(checked);
  EXPECT_FALSE(holdout.little_data);
  EXPECT_EQ(holdout.values, 1000);
  EXPECT_EQ(holdout.training_steps(), 850u);
  EXPECT_EQ(holdout.held_out_steps(), 150u);
}

TEST(HoldoutChoice, OfLittleDataNothing) {
  const Dataset few = dataset_of({local_level(499, 1, 1, 3)});
  const Holdout none = holdout_of(FitData(few, {}));
  EXPECT_TRUE(none.little_data);
  EXPECT_EQ(none.training_steps(), 499u);
  EXPECT_EQ(none.held_out_steps(), 0u);
  // Enough values, but hardly any where they would be held out.
  std::vector<double> y = local_level(700, 1, 1, 3);
  for (std::size_t k = 590; k + 10 < y.size(); ++k) y[k] = kMissing;
  const Dataset gap = dataset_of({y});
  EXPECT_TRUE(holdout_of(FitData(gap, {})).little_data);
}

TEST(HoldoutChoice, TheValidationDataIfThereAreAny) {
  const Dataset data = dataset_of({local_level(100, 1, 1, 3)});
  const Dataset other = dataset_of({local_level(60, 1, 1, 4)});
  const FitData checked(data, other, {});
  EXPECT_TRUE(checked.has_validation());
  EXPECT_EQ(checked.training().series.size(), 1u);
  EXPECT_EQ(checked.all().series.size(), 2u);
  const Holdout holdout = holdout_of(checked);
  EXPECT_FALSE(holdout.little_data);
  EXPECT_EQ(holdout.training_steps(), 100u);
  EXPECT_EQ(holdout.held_out_steps(), 60u);
}

}  // namespace
}  // namespace kalmia::train
