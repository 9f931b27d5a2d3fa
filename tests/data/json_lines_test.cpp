#include "data/json_lines.hpp"

#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();
using Names = std::vector<std::string>;

std::string lines_of(const Dataset& data) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a.jsonl"));
  write_json_lines(table_of(data), file);
  file.commit();
  return folder.content("a.jsonl");
}

std::string json_refusal(std::string_view text, const DataOptions& options = {}) {
  return message_of<DataError>([&] { read_json_lines("a.jsonl", text, options); });
}

TEST(JsonLines, ReadsRows) {
  const Dataset data = read_json_lines(
      "a.jsonl",
      "{\"unique_id\": 7, \"t\": 1, \"y1\": 1.25, \"note\": {\"y1\": [1, {\"t\": 2}]}}\r\n"
      "\n"
      "{\"y2\": \"NaN\", \"t\": 2, \"unique_id\": 7, \"y1\": null}\n"
      "{\"unique_id\": \"b\", \"t\": \"0.5\", \"y2\": -3, \"y1\": 18446744073709551615}",
      {});
  EXPECT_EQ(data.y_names, Names({"y1", "y2"}));
  EXPECT_EQ(data.time_name, "t");
  ASSERT_EQ(data.series.size(), 2U);
  EXPECT_EQ(data.series[0].key, "7");
  expect_equal(data.series[0].t, {1, 2}, "t");
  expect_equal(data.series[0].y, {1.25, kNull, kNull, kNull}, "y");
  EXPECT_EQ(data.series[1].key, "b");
  expect_equal(data.series[1].y, {18446744073709551615.0, -3}, "y");
}

TEST(JsonLines, FollowsTheRulesOfColumns) {
  EXPECT_EQ(read_json_lines("a", "{\"date\": 20200101, \"level\": 3, \"note\": \"x\"}", {}).y_names,
            Names({"level"}));
  EXPECT_EQ(read_json_lines("a", "{\"date\": 20200101, \"level\": 3}", {}).time_kind,
            TimeKind::Date);
  EXPECT_NE(json_refusal("{\"a\": 1, \"b\": 2}").find("--measure"), std::string::npos);
}

TEST(JsonLines, NamesTheLine) {
  EXPECT_EQ(json_refusal("{\"y\": 1}\n{\"y\": \"abc\"}\n"),
            "a.jsonl:2: column y: \"abc\" is not a number");
  EXPECT_EQ(json_refusal("{\"y\": 1}\n{\"y\": [1]}\n"),
            "a.jsonl:2: column y: \"[...]\" is not a number");
  EXPECT_EQ(json_refusal("{\"y\": 1}\n\n{\"y\": true}\n"),
            "a.jsonl:3: column y: \"true\" is not a number");
  EXPECT_EQ(json_refusal("{\"y\": 1}\n{\"y\": NaN}\n").substr(0, 35),
            "a.jsonl:2: not a JSON object; troub");
  EXPECT_EQ(json_refusal("[1, 2]\n"), "a.jsonl:1: not a JSON object, but every line must be one");
  EXPECT_EQ(json_refusal("5\n"), "a.jsonl:1: not a JSON object, but every line must be one");
  EXPECT_EQ(json_refusal(" \n\n"), "a.jsonl: the file is empty");
  json_refusal("{\"y\": 1e999}");
  json_refusal("{\"y\": 1e300}");
  json_refusal("{\"y\": 1} {\"y\": 2}");
  json_refusal("{}");
}

TEST(JsonLines, WritesRows) {
  EXPECT_EQ(lines_of(example_dataset()).substr(0, 111),
            "{\"unique_id\":\"first, \\\"quoted\\\"\",\"t\":0,\"y1\":0.1,\"y2\":null,\"u\":0,"
            "\"true_position\":1,\"true_speed\":2,\"true_load\":3}");
}

TEST(JsonLines, ReadsBackTheSame) {
  expect_equal(read_json_lines("a", lines_of(example_dataset()), {}), example_dataset());
  Dataset data = example_dataset();
  data.time_kind = TimeKind::Date;
  expect_equal(read_json_lines("a", lines_of(data), {}), data);
  EXPECT_NE(lines_of(data).find("\"t\":\"1970-01-01T00:00:00.1\""), std::string::npos);
}

// Names and keys may be any bytes; JSON must stay JSON.
TEST(JsonLines, WritesBytesThatAreNoText) {
  Dataset data = example_dataset();
  data.series[0].key = "\xFF\xFE\n";
  const Dataset back = read_json_lines("a", lines_of(data), {});
  EXPECT_EQ(back.total_steps(), data.total_steps());
}

}  // namespace
}  // namespace kalmia::data
