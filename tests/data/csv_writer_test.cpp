#include "data/csv.hpp"
#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

std::string csv_of(const Dataset& data) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a.csv"));
  write_csv(table_of(data), file);
  file.commit();
  return folder.content("a.csv");
}

TEST(CsvWriter, WritesShortNumbersAndEmptyFields) {
  EXPECT_EQ(csv_of(example_dataset()),
            "unique_id,t,y1,y2,u,true_position,true_speed,true_load\n"
            "\"first, \"\"quoted\"\"\",0,0.1,,0,1,2,3\n"
            "\"first, \"\"quoted\"\"\",0.1,-1e-300,0.3333333333333333,-0.5,4,5,6\n"
            "\"first, \"\"quoted\"\"\",0.30000000000000004,,,1,7,8,9e+99\n"
            "second,-7.5,5,6,2,,1,2\n"
            "second,1000000,7,123456789.12345679,3,3,4,5\n");
}

TEST(CsvWriter, ReadsBackTheSame) {
  expect_equal(read_csv("a.csv", csv_of(example_dataset()), {}), example_dataset());
}

Dataset dated(std::vector<double> times) {
  Dataset data;
  data.time_name = "date";
  data.time_kind = TimeKind::Date;
  data.y_names = {"level"};
  Series series;
  series.steps = static_cast<int>(times.size());
  series.y.assign(times.size(), 1);
  series.t = std::move(times);
  data.series = {series};
  return data;
}

TEST(CsvWriter, WritesDates) {
  const Dataset days = dated({0, 86400});
  EXPECT_EQ(csv_of(days), "date,level\n1970-01-01,1\n1970-01-02,1\n");
  expect_equal(read_csv("a.csv", csv_of(days), {}), days);
  const Dataset times = dated({0, 86400.25});
  EXPECT_EQ(csv_of(times), "date,level\n1970-01-01T00:00:00,1\n1970-01-02T00:00:00.25,1\n");
  expect_equal(read_csv("a.csv", csv_of(times), {}), times);
}

// A missing value of a single column must not become a blank line, which counts for nothing at the
// end of a file.
TEST(CsvWriter, KeepsMissingValuesOfOneColumn) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Dataset data;
  data.y_names = {"y"};
  Series series;
  series.steps = 3;
  series.y = {kNaN, 1, kNaN};
  data.series = {series};
  EXPECT_EQ(csv_of(data), "y\n\"\"\n1\n\"\"\n");
  expect_equal(read_csv("a.csv", csv_of(data), {}), data);
}

TEST(CsvWriter, KeepsNamesWithBlanksAndLineEnds) {
  Dataset data = dated({0});
  data.key_name = "key";
  for (const char* key : {" blanks ", "two\r\nlines", "semi;colon", "\"", "\ttab"}) {
    data.series[0].key = key;
    expect_equal(read_csv("a.csv", csv_of(data), {}), data);
  }
}

// More than one buffer.
TEST(CsvWriter, WritesLongSeries) {
  Dataset data;
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  data.y_names = {"y1", "y2"};
  Series series;
  series.steps = 50000;
  for (int k = 0; k < series.steps; ++k) {
    series.t.push_back(0.1 * k);
    series.y.push_back(1.0 / (k + 1));
    series.y.push_back(-k);
  }
  data.series = {series};
  expect_equal(read_csv("a.csv", csv_of(data), {}), data);
}

}  // namespace
}  // namespace kalmia::data
