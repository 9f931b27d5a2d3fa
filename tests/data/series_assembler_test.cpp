#include "data/series_assembler.hpp"

#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

using Row = std::vector<std::string>;

Dataset assemble(const std::vector<Row>& rows, const Columns& columns) {
  SeriesAssembler assembler("a.csv", {"id", "t", "y", "x", "u"}, columns);
  std::size_t line = 1;
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    for (const std::string& text : row) cells.push_back({.text = text});
    assembler.add_row(++line, cells);
  }
  return assembler.finish();
}

const Columns kKeyed = {.y = {2}, .x = {3}, .u = {4}, .time = 1, .key = 0};
const Columns kPlain = {.y = {2}, .x = {}, .u = {}, .time = 1, .key = -1};

TEST(SeriesAssembler, SortsRowsByKey) {
  const Dataset data = assemble({{"b", "5", "1", "2", "3"},
                                 {"a", "1", "4", "5", "6"},
                                 {"b", "6", "", "8", "9"},
                                 {"a", "2", "10", "11", "12"}},
                                kKeyed);
  ASSERT_EQ(data.series.size(), 2U);
  EXPECT_EQ(data.key_name, "id");
  EXPECT_EQ(data.series[0].key, "b");
  EXPECT_EQ(data.series[0].steps, 2);
  expect_equal(data.series[0].t, {5, 6}, "t");
  expect_equal(data.series[0].y, {1, std::numeric_limits<double>::quiet_NaN()}, "y");
  expect_equal(data.series[0].u, {3, 9}, "u");
  EXPECT_EQ(data.series[1].key, "a");
  expect_equal(data.series[1].x, {5, 11}, "x");
}

TEST(SeriesAssembler, KindsOfTime) {
  const Dataset numbers = assemble({{"", "19991231", "1"}, {"", "20000101.5", "2"}}, kPlain);
  EXPECT_EQ(numbers.time_kind, TimeKind::Number);
  expect_equal(numbers.series[0].t, {19991231, 20000101.5}, "t");
  const Dataset digits = assemble({{"", "19991231", "1"}, {"", "20000101", "2"}}, kPlain);
  EXPECT_EQ(digits.time_kind, TimeKind::Date);
  expect_equal(digits.series[0].t, {946598400, 946684800}, "t");
  // One that is no date makes numbers of them all.
  const Dataset count = assemble({{"", "19991231", "1"}, {"", "19991232", "2"}}, kPlain);
  EXPECT_EQ(count.time_kind, TimeKind::Number);
  const Dataset late = assemble({{"", "19991232", "1"}, {"", "20000101", "2"}}, kPlain);
  EXPECT_EQ(late.time_kind, TimeKind::Number);
  const Dataset dates =
      assemble({{"", "1970-01-01", "1"}, {"", "1970-01-01T00:00:01", "2"}}, kPlain);
  EXPECT_EQ(dates.time_kind, TimeKind::Date);
  expect_equal(dates.series[0].t, {0, 1}, "t");
}

std::string rows_refusal(const std::vector<Row>& rows, const Columns& columns) {
  return message_of<DataError>([&] { assemble(rows, columns); });
}

TEST(SeriesAssembler, NamesLineAndColumn) {
  EXPECT_EQ(rows_refusal({{"", "1", "abc"}}, kPlain), "a.csv:2: column y: \"abc\" is not a number");
  EXPECT_EQ(rows_refusal({{"", "1", "1,5"}}, kPlain),
            "a.csv:2: column y: \"1,5\" is not a number (decimals follow a point, not a comma)");
  EXPECT_EQ(rows_refusal({{"", "1", "1"}, {"", "2", "1e300"}}, kPlain),
            "a.csv:3: column y: value 1e+300, but values must lie within -1e100 and 1e100 (leave "
            "missing ones empty)");
  rows_refusal({{"", "1", "inf"}}, kPlain);
  EXPECT_EQ(rows_refusal({{"", "2", "1"}, {"", "1", "1"}}, kPlain),
            "a.csv:3: column t: time 1 comes after 2, but time must increase within a series");
  rows_refusal({{"", "2", "1"}, {"", "2", "1"}}, kPlain);
  EXPECT_EQ(rows_refusal({{"", "2", "1"}, {"", "", "1"}}, kPlain),
            "a.csv:3: column t: time is missing, but every row needs one");
  EXPECT_EQ(rows_refusal({{"", "2020-01-01", "1"}, {"", "", "1"}}, kPlain),
            "a.csv:3: column t: time is missing, but every row needs one");
  EXPECT_EQ(rows_refusal({{"", "2", "1"}, {"", "2020-01-01", "1"}}, kPlain),
            "a.csv:3: column t: \"2020-01-01\" is not a number, but the rows before have numbers");
  EXPECT_EQ(rows_refusal({{"", "noon", "1"}}, kPlain),
            "a.csv:2: column t: \"noon\" is neither a number nor a date such as 2024-03-01 or "
            "2024-03-01T12:30:00");
  EXPECT_EQ(rows_refusal({{"", "2020-01-01", "1"}, {"", "2", "1"}}, kPlain),
            "a.csv:3: column t: \"2\" is not a date such as 2024-03-01 or 2024-03-01T12:30:00");
  rows_refusal({{"", "-1e200", "1"}}, kPlain);
  EXPECT_EQ(rows_refusal({{"", "1", "1", "1", "1"}}, kKeyed),
            "a.csv:2: column id: the key is empty, but every row must belong to a series");
  EXPECT_EQ(rows_refusal({}, kPlain), "a.csv: no rows below the header, so nothing to learn from");
}

}  // namespace
}  // namespace kalmia::data
