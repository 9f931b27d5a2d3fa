#include "train/fit_data.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

std::string refusal(const Dataset& data) {
  return kalmia::message_of<DataError>([&] { const FitData checked(data, {}); });
}
std::string refusal(const Dataset& data, const Dataset& validation) {
  return kalmia::message_of<DataError>([&] { const FitData checked(data, validation, {}); });
}
void expect_refused(const std::string& said, const std::string& why) {
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

TEST(FitDataChecks, DataWithoutValuesOrOfTheWrongSizeAreRefused) {
  EXPECT_EQ(refusal(Dataset()), "fit: the data have no measured columns");
  Dataset data = dataset_of({{1, 2, 3}});
  data.series[0].steps = 4;
  EXPECT_EQ(refusal(data), "fit: series \"1\" has 3 values, but 4 steps of 1 channels");
}

TEST(FitDataChecks, MoreColumnsThanAModelHasAreRefused) {
  Dataset data;
  for (int i = 0; i < 1000; ++i) data.y_names.push_back("y" + std::to_string(i));
  const std::string said =
      kalmia::message_of<ConfigError>([&] { const FitData checked(data, {}); });
  expect_refused(said, "the data: 1000 measured columns, but a model has at most");
}

TEST(FitDataChecks, ValidationDataHaveTheColumnsOfTheDataAndEnoughValues) {
  const Dataset data = dataset_of({local_level(100, 1, 1, 3)});
  Dataset other = dataset_of({local_level(60, 1, 1, 4)});
  EXPECT_NO_THROW(FitData(data, other, {}));
  other.source = "b.csv";
  other.y_names = {"z"};
  expect_refused(
      refusal(data, other),
      "validation data b.csv: measured columns are z, but they must be those of the data, y");
  other = dataset_of({local_level(19, 1, 1, 4)});
  expect_refused(refusal(data, other), "19 measured values, but at least 20 are needed");
  other = dataset_of({local_level(60, 1, 1, 4)});
  other.time_kind = TimeKind::Number;
  for (int k = 0; k < 60; ++k) other.series[0].t.push_back(k);
  expect_refused(refusal(data, other), "has times that are numbers, but it must have");
}

TEST(FitDataEnds, RowsAfterTheLastValueAreCountedInAllData) {
  const Dataset data = dataset_of({{1, kMissing, 2, kMissing, kMissing}, {kMissing, 1}});
  EXPECT_EQ(FitData(data, {}).empty_end_steps(), 2u);
  std::vector<double> y = local_level(30, 1, 1, 5);
  y.resize(33, kMissing);
  EXPECT_EQ(FitData(data, dataset_of({y}), {}).empty_end_steps(), 5u);
}

TEST(FitDataNames, AreListedAsTheyArePrinted) {
  EXPECT_EQ(name_list({}), "none");
  EXPECT_EQ(name_list({"a", "b\n"}), "a, b\\n");
}

}  // namespace
}  // namespace kalmia::train
