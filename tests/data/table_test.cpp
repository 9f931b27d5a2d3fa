#include "data/table.hpp"

#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

using Names = std::vector<std::string>;

TEST(Table, OrdersTheColumnsOfADataset) {
  Dataset data = example_dataset();
  data.x_names[0] = "position";
  const Table table = table_of(data);
  EXPECT_EQ(table.key_name, "unique_id");
  EXPECT_EQ(table.time_name, "t");
  EXPECT_EQ(table.names, Names({"y1", "y2", "u", "true_position", "true_speed", "true_load"}));
  ASSERT_EQ(table.blocks.size(), 2U);
  EXPECT_EQ(table.blocks[1].key, "second");
  expect_equal(
      table.blocks[1].values,
      {5, 6, 2, std::numeric_limits<double>::quiet_NaN(), 1, 2, 7, 123456789.123456789, 3, 3, 4, 5},
      "values");
}

TEST(Table, KeyAndTimeWhereThereAreAny) {
  Dataset data;
  data.y_names = {"y"};
  data.series.resize(1);
  EXPECT_EQ(table_of(data).key_name, "");
  EXPECT_EQ(table_of(data).time_name, "");
  data.series.resize(2);
  EXPECT_EQ(table_of(data).key_name, "unique_id");
  data.key_name = "station";
  data.time_kind = TimeKind::Date;
  EXPECT_EQ(table_of(data).key_name, "station");
  EXPECT_EQ(table_of(data).time_name, "t");
}

TEST(Table, DaysOnlyIfAllTimesAre) {
  Dataset data;
  data.time_kind = TimeKind::Date;
  data.series.resize(2);
  data.series[0].steps = data.series[1].steps = 1;
  data.series[0].t = {86400};
  data.series[1].t = {0};
  EXPECT_EQ(table_of(data).date_style, DateStyle::Day);
  data.series[0].t = {86401};
  EXPECT_EQ(table_of(data).date_style, DateStyle::Second);
}

Estimates table_estimates() {
  Estimates estimates;
  estimates.state_names = {"a", "b"};
  StateEstimates series;
  series.steps = 2;
  series.mean = {1, 2, 3, 4};
  series.covariance = {4, 0.5, 0.5, 9, 16, 0, 0, 25};
  estimates.series = {series};
  return estimates;
}

TEST(Table, StatesWithTheirStandardDeviations) {
  const Table table = table_of(table_estimates());
  EXPECT_EQ(table.names, Names({"a", "a_std", "b", "b_std"}));
  expect_equal(table.blocks[0].values, {1, 2, 2, 3, 3, 4, 4, 5}, "values");
}

TEST(Table, SamplesHaveNoStandardDeviations) {
  Estimates estimates = table_estimates();
  estimates.series[0].covariance.clear();
  const Table table = table_of(estimates);
  EXPECT_EQ(table.names, Names({"a", "b"}));
  expect_equal(table.blocks[0].values, {1, 2, 3, 4}, "values");
}

TEST(Table, RefusesSizesThatDoNotFit) {
  Dataset data = example_dataset();
  data.series[1].y.pop_back();
  EXPECT_EQ(message_of<DataError>([&] { table_of(data); }),
            "series 1: y has 3 numbers, but 2 steps of 2 need 4");
  data = example_dataset();
  data.series[0].t.clear();
  message_of<DataError>([&] { table_of(data); });
  data = example_dataset();
  data.series[0].steps = -1;
  message_of<DataError>([&] { table_of(data); });
  Estimates estimates = table_estimates();
  estimates.series[0].covariance.pop_back();
  message_of<DataError>([&] { table_of(estimates); });
}

TEST(Table, RefusesNamesThatOccurTwice) {
  Dataset data = example_dataset();
  data.y_names[0] = data.time_name;
  EXPECT_EQ(message_of<DataError>([&] { table_of(data); }),
            "columns to write: two columns are called \"t\", but names must differ");
}

}  // namespace
}  // namespace kalmia::data
