#include "data/columns.hpp"

#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

using Names = std::vector<std::string>;
using Places = std::vector<int>;

// All columns hold numbers but those whose names begin with "text".
NumberColumns numbers_of(const Names& names) {
  std::vector<Cell> row;
  for (const std::string& name : names)
    row.push_back({.text = name.starts_with("text") ? "abc" : "1.5"});
  NumberColumns numbers;
  numbers.add_row(row);
  return numbers;
}

Columns choose(const Names& names, const DataOptions& options = {}) {
  return choose_columns("a.csv:1", names, options, numbers_of(names));
}

TEST(Columns, MeasuredByName) {
  EXPECT_EQ(choose({"a", "y", "b"}).y, Places({1}));
  EXPECT_EQ(choose({"y2", "y0", "y1"}).y, Places({1, 2, 0}));
  EXPECT_EQ(choose({"y2", "y1", "other"}).y, Places({1, 0}));
  EXPECT_EQ(choose({"y", "y1", "y2"}).y, Places({0}));
}

TEST(Columns, MeasuredIsTheOnlyColumnOfNumbers) {
  EXPECT_EQ(choose({"unique_id", "text1", "date", "level", "true_level", "u1"}).y, Places({3}));
  EXPECT_EQ(choose({"Unnamed: 0", "level"}).y, Places({1}));
}

TEST(Columns, AsksWhereMeasuredIsNotClear) {
  EXPECT_EQ(
      message_of<DataError>([] {
        choose({"year", "volume", "text"});
      }),
      "a.csv:1: which columns are measured? None is called y or y1, y2, ..., and 2 hold "
      "numbers; name them, such as --measure volume (several: --measure a,b); the columns are "
      "year, volume, text");
  EXPECT_EQ(message_of<DataError>([] {
              choose({"t", "text"});
            }),
            "a.csv:1: no column of numbers to take as measured; the columns are t, text; name the "
            "measured ones: --measure a,b");
  // Numbers left out: y3 is not the second of anything.
  message_of<DataError>([] { choose({"y1", "y3"}); });
  message_of<DataError>([] { choose({"y2", "y3"}); });
}

TEST(Columns, TheOthersByName) {
  const Columns columns =
      choose({"true_a", "Timestamp", "KEY", "u1", "y", "u0", "true_b", "T", "U"});
  EXPECT_EQ(columns.x, Places({0, 6}));
  EXPECT_EQ(columns.time, 1);
  EXPECT_EQ(columns.key, 2);
  EXPECT_EQ(columns.u, Places({5, 3}));
  EXPECT_EQ(choose({"timestamp", "date", "ds", "time", "t", "y"}).time, 4);
  EXPECT_EQ(choose({"key", "unique_id", "y"}).key, 1);
  EXPECT_EQ(choose({"y"}).time, -1);
  EXPECT_EQ(choose({"y"}).key, -1);
}

TEST(Columns, OptionsComeFirst) {
  DataOptions options;
  options.measure = {"t", "true_a"};
  options.truth = {"y"};
  options.inputs = {"b"};
  options.time = "c";
  options.key = "d";
  const Columns columns = choose({"t", "true_a", "y", "b", "c", "d", "true_b", "u"}, options);
  EXPECT_EQ(columns.y, Places({0, 1}));
  EXPECT_EQ(columns.x, Places({2}));
  EXPECT_EQ(columns.u, Places({3}));
  EXPECT_EQ(columns.time, 4);
  EXPECT_EQ(columns.key, 5);
}

TEST(Columns, AColumnThatIsNotThere) {
  DataOptions options;
  options.measure = {"gps_nroth"};
  EXPECT_EQ(message_of<DataError>([&] {
              choose({"gps_north", "gps_east"}, options);
            }),
            "a.csv:1: no column \"gps_nroth\" for --measure; did you mean gps_north? The columns "
            "are gps_north, gps_east");
  options.measure = {"gps_north"};
  options.time = "zzz";
  EXPECT_EQ(message_of<DataError>([&] {
              choose({"gps_north", "gps_east"}, options);
            }),
            "a.csv:1: no column \"zzz\" for --time; the columns are gps_north, gps_east");
}

TEST(Columns, NamesOccurOnce) {
  DataOptions options;
  options.measure = {"a", "a"};
  EXPECT_EQ(message_of<ConfigError>([&] {
              choose({"a", "b"}, options);
            }),
            "--measure names the column a twice, but once is enough");
  EXPECT_EQ(message_of<DataError>([] {
              check_names("a.csv:1", Names({"a", "b", "a"}));
            }),
            "a.csv:1: two columns are called \"a\", but names must differ");
  check_names("a.csv:1", Names({"a", "b", "A"}));
}

TEST(Columns, LongListsAreCutOff) {
  EXPECT_EQ(name_list(Names({"a", "b"})), "a, b");
  EXPECT_LT(name_list(Names(100000, "name")).size(), 250U);
}

TEST(Columns, NumbersSettleAfterAWhile) {
  NumberColumns numbers;
  const std::vector<Cell> row = {{.text = "1"}, {.text = ""}, {.text = "x"}};
  const std::vector<Cell> last = {{.text = "1"}, {.text = "", .is_number = true, .number = 2}, {}};
  for (int i = 0; i < 100; ++i) numbers.add_row(row);
  EXPECT_FALSE(numbers.settled());  // the second has shown nothing yet
  EXPECT_FALSE(numbers.is_number(1));
  for (int i = 0; i < 100; ++i) numbers.add_row(last);
  EXPECT_TRUE(numbers.settled());
  EXPECT_TRUE(numbers.is_number(0));
  EXPECT_TRUE(numbers.is_number(1));
  EXPECT_FALSE(numbers.is_number(2));
  EXPECT_FALSE(numbers.is_number(3));
}

TEST(Columns, SelectsAmongArrays) {
  Dataset data = example_dataset();
  DataOptions options;
  options.measure = {"u", "y2"};
  options.truth = {"y1"};
  options.time = "t";
  options.key = "unique_id";
  select_columns(data, options);
  EXPECT_EQ(data.y_names, Names({"u", "y2"}));
  EXPECT_EQ(data.x_names, Names({"y1"}));
  EXPECT_EQ(data.u_names, Names({"u"}));
  expect_equal(data.series[1].y, {2, 6, 3, 123456789.123456789}, "y");
  expect_equal(data.series[1].x, {5, 7}, "x");
  options.measure = {"true_load"};
  message_of<DataError>([&] { select_columns(data, options); });
  options = {};
  options.time = "time";
  message_of<DataError>([&] { select_columns(data, options); });
}

}  // namespace
}  // namespace kalmia::data
