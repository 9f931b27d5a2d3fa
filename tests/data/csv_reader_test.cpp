#include "data/csv.hpp"
#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr double kEmptyCell = std::numeric_limits<double>::quiet_NaN();
using Names = std::vector<std::string>;

std::string csv_refusal(std::string_view text, const DataOptions& options = {}) {
  return message_of<DataError>([&] { read_csv("a.csv", text, options); });
}

TEST(CsvReader, ReadsAWideFile) {
  const Dataset data = read_csv("a.csv",
                                "\xEF\xBB\xBFt,y1,note,y2,true_a,u\r\n"
                                "0,1.5,hello,NA,7,1\r\n"
                                "0.5,,\"quoted, text\",-2e-3,8,0\r\n\r\n",
                                {});
  EXPECT_EQ(data.source, "a.csv");
  EXPECT_EQ(data.time_name, "t");
  EXPECT_EQ(data.time_kind, TimeKind::Number);
  EXPECT_EQ(data.y_names, Names({"y1", "y2"}));
  EXPECT_EQ(data.x_names, Names({"true_a"}));
  EXPECT_EQ(data.u_names, Names({"u"}));
  ASSERT_EQ(data.series.size(), 1U);
  EXPECT_EQ(data.series[0].steps, 2);
  expect_equal(data.series[0].y, {1.5, kEmptyCell, kEmptyCell, -2e-3}, "y");
  expect_equal(data.series[0].x, {7, 8}, "x");
  expect_equal(data.series[0].u, {1, 0}, "u");
  expect_equal(data.series[0].t, {0, 0.5}, "t");
}

TEST(CsvReader, ReadsALongFile) {
  const Dataset data = read_csv("a.csv",
                                "unique_id;ds;y\nB;2020-01-01;1\nA;2020-01-01;2\n"
                                "B;2020-01-02;3\n\"A\";2020-01-03;4",
                                {});
  EXPECT_EQ(data.key_name, "unique_id");
  EXPECT_EQ(data.time_kind, TimeKind::Date);
  ASSERT_EQ(data.series.size(), 2U);
  EXPECT_EQ(data.series[0].key, "B");
  expect_equal(data.series[0].y, {1, 3}, "y");
  EXPECT_EQ(data.series[1].key, "A");
  expect_equal(data.series[1].y, {2, 4}, "y");
  EXPECT_EQ(data.series[1].t[1] - data.series[1].t[0], 2 * 86400);
}

TEST(CsvReader, LooksOnlyAtTheColumnsAskedFor) {
  DataOptions options;
  options.measure = {"b"};
  const Dataset data = read_csv("a.csv", "a,b,c\nx,1,inf\ny,2,1e300\n", options);
  expect_equal(data.series[0].y, {1, 2}, "y");
}

TEST(CsvReader, BlankLinesOfOneColumnAreMissing) {
  expect_equal(read_csv("a.csv", "y\n1\n\n\n2\n\"\"\n\n\n", {}).series[0].y,
               {1, kEmptyCell, kEmptyCell, 2, kEmptyCell}, "y");
}

TEST(CsvReader, FindsNumbersThatBeginLate) {
  std::string text = "name,level\n";
  for (int i = 0; i < 1000; ++i) text += "x,NA\n";
  EXPECT_EQ(read_csv("a.csv", text + "x,3\n", {}).y_names, Names({"level"}));
}

TEST(CsvReader, NeedsAHeader) {
  EXPECT_EQ(csv_refusal("1,2\n3,4\n"),
            "a.csv:1: the first line holds numbers, but it must name the columns, such as t,y");
  EXPECT_EQ(csv_refusal("1,,NA\n"),
            "a.csv:1: the first line holds numbers, but it must name the columns, such as t,y");
  EXPECT_EQ(csv_refusal("\n1\n"), "a.csv:1: the first line is blank, but it must name the columns");
  EXPECT_EQ(csv_refusal(""), "a.csv: the file is empty");
  EXPECT_EQ(csv_refusal("\xEF\xBB\xBF"), "a.csv: the file is empty");
  EXPECT_EQ(csv_refusal("t,y\n"), "a.csv: no rows below the header, so nothing to learn from");
  EXPECT_EQ(csv_refusal("t,y\n\n\n"), "a.csv: no rows below the header, so nothing to learn from");
  EXPECT_EQ(csv_refusal("y,y\n1,2\n"),
            "a.csv:1: two columns are called \"y\", but names must differ");
}

TEST(CsvReader, RefusesRaggedRows) {
  EXPECT_EQ(csv_refusal("t,y\n0,1\n1,2,3\n"),
            "a.csv:3: row has 3 values, but the header names 2 (t, y)");
  EXPECT_EQ(csv_refusal("t,y\n0\n"), "a.csv:2: row has 1 value, but the header names 2 (t, y)");
  EXPECT_EQ(csv_refusal("t,y\n0,1\n\n1,2\n"),
            "a.csv:3: the line is blank, but the header names 2 (t, y)");
}

TEST(CsvReader, CountsLinesInsideQuotes) {
  EXPECT_EQ(csv_refusal("note,y\n\"two\nlines\",1\nx,abc\n"),
            "a.csv:4: column y: \"abc\" is not a number");
}

TEST(CsvReader, RefusesWhatIsNoText) {
  EXPECT_NE(csv_refusal(std::string_view("\xFF\xFEt\0", 4)).find("UTF-16"), std::string::npos);
  EXPECT_NE(csv_refusal(std::string_view("PK\3\4\0\0", 6)).find("no text"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::data
