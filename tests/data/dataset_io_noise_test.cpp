// Columns that say how noisy each value is, through every format that holds them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

const char* const kCsv =
    "t,north,gps_std_n,east,gps_std_e,true_north,true_east\n"
    "0,1,0.5,2,0.25,0,0\n"
    "1,3,1.5,,,0,0\n"
    "2,,,4,2,0,0\n";

DataOptions options_for(std::vector<std::string> noise) {
  DataOptions options;
  options.measure = {"north", "east"};
  options.noise_columns = std::move(noise);
  return options;
}

TEST(DatasetIoNoise, ColumnsFollowTheMeasuredOnes) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.csv", kCsv);
  const Dataset data = read_dataset(path, options_for({"gps_std_n", "gps_std_e"}));
  EXPECT_EQ(data.std_names, (std::vector<std::string>{"gps_std_n", "gps_std_e"}));
  const double nan = std::nan("");
  expect_equal(data.series[0].y_std, {0.5, 0.25, 1.5, nan, nan, 2}, "y_std");
  EXPECT_EQ(data.x_names.size(), 2u);
  // A column of deviations is none to be measured.
  DataOptions guessed;
  guessed.noise_columns = {"s"};
  EXPECT_EQ(read_dataset(folder.file("b.csv", "t,a,s\n0,1,2\n1,3,4\n"), guessed).y_names,
            std::vector<std::string>{"a"});
}

TEST(DatasetIoNoise, OneForAll) {
  const ScratchFolder folder;
  const Dataset data = read_dataset(folder.file("a.jsonl", "{\"north\":1,\"east\":2,\"s\":3}\n"),
                                    options_for({"s"}));
  EXPECT_EQ(data.std_names, (std::vector<std::string>{"s", "s"}));
  EXPECT_EQ(data.series[0].y_std, (std::vector<double>{3, 3}));
  write_dataset(folder.file("b.csv"), data);
  EXPECT_EQ(folder.content("b.csv"), "north,east,s\n1,2,3\n");
}

TEST(DatasetIoNoise, WrittenAndReadAgain) {
  const ScratchFolder folder;
  const DataOptions options = options_for({"gps_std_n", "gps_std_e"});
  const Dataset data = read_dataset(folder.file("a.csv", kCsv), options);
  for (const char* name : {"b.csv", "b.jsonl", "b.npz"}) {
    SCOPED_TRACE(name);
    write_dataset(folder.file(name), data);
    const Dataset again = read_dataset(folder.file(name), options);
    EXPECT_EQ(again.std_names, data.std_names);
    expect_equal(again.series[0].y_std, data.series[0].y_std, "y_std");
  }
  // Arrays know their deviations without being told; those of the chosen columns are taken.
  DataOptions east;
  east.measure = {"east"};
  const Dataset one = read_dataset(folder.file("b.npz"), east);
  EXPECT_EQ(one.std_names, std::vector<std::string>{"gps_std_e"});
  expect_equal(one.series[0].y_std, {0.25, std::nan(""), 2}, "y_std");
  east.measure = {"true_east"};
  EXPECT_EQ(message_of<DataError>([&] { read_dataset(folder.file("b.npz"), east); }),
            folder.file("b.npz") +
                ": the array y_std says nothing of the column true_east; name the columns of its "
                "noise: --noise-columns");
}

TEST(DatasetIoNoise, MistakesNameRowAndColumn) {
  const ScratchFolder folder;
  const auto error = [&](const std::string& row, std::vector<std::string> noise) {
    const std::string path = folder.file("a.csv", "north,east,s,r\n1,2,3,4\n" + row + "\n");
    const std::string message =
        message_of<DataError>([&] { read_dataset(path, options_for(std::move(noise))); });
    return message.substr(std::min(message.size(), path.size()));
  };
  const std::string rule =
      ", but a measured value needs one between 1e-100 and 1e100 (leave the value empty if it is "
      "of no use)";
  EXPECT_EQ(error("1,2,3,0", {"s", "r"}),
            ":3: column r: the standard deviation of east is 0" + rule);
  EXPECT_EQ(error("1,2,-3,1", {"s", "r"}),
            ":3: column s: the standard deviation of north is -3" + rule);
  EXPECT_EQ(error("1,2,,1", {"s", "r"}),
            ":3: column s: the standard deviation of north is missing" + rule);
  EXPECT_EQ(error("1,2,x,1", {"s", "r"}), ":3: column s: \"x\" is not a number");
  // Of a missing value nothing is asked.
  const std::string path = folder.file("b.csv", "north,east,s,r\n1,2,3,4\n,2,,1\n");
  EXPECT_EQ(read_dataset(path, options_for({"s", "r"})).series[0].steps, 2);
  EXPECT_EQ(error("1,2,3,4", {"s", "t"}).substr(0, 37), ":1: no column \"t\" for --noise-columns");
  EXPECT_EQ(error("1,2,3,4", {"s", "r", "north"}),
            ":1: --noise-columns names 3 columns, but 2 are measured; name one for each, in their "
            "order, or one for all");
}

}  // namespace
}  // namespace kalmia
