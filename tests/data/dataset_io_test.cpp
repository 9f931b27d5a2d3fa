#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "kalmia/data.hpp"
#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

TEST(DatasetIo, ReadsBackTheSameInEachFormat) {
  const ScratchFolder folder;
  for (const char* name : {"a.csv", "a.tsv", "a.jsonl", "a.npz", "a"}) {
    SCOPED_TRACE(name);
    const std::string path = folder.file(name);
    write_dataset(path, example_dataset());
    const Dataset data = read_dataset(path);
    expect_equal(data, example_dataset());
    EXPECT_EQ(data.source, path);
  }
  Dataset sound;
  sound.time_name = "t";
  sound.time_kind = TimeKind::Number;
  sound.y_names = {"y"};
  sound.series.resize(1);
  sound.series[0].steps = 3;
  sound.series[0].y = {0.5, -0.25, 0};
  sound.series[0].t = {0, 0.125, 0.25};
  for (const char* name : {"a.wav", "a.flac"}) {
    SCOPED_TRACE(name);
    write_dataset(folder.file(name), sound);
    expect_equal(read_dataset(folder.file(name)), sound);
  }
  write_dataset(folder.file("a.npy"), sound);
  expect_equal(read_dataset(folder.file("a.npy")).series[0].y, sound.series[0].y, "y");
}

TEST(DatasetIo, OptionsReachTheReader) {
  const ScratchFolder folder;
  DataOptions options;
  options.measure = {"b"};
  for (const auto& [name, text] :
       {std::pair{"a.csv", "a,b\n1,2\n"}, std::pair{"a.jsonl", "{\"a\": 1, \"b\": 2}\n"}})
    EXPECT_EQ(read_dataset(folder.file(name, text), options).series[0].y, std::vector<double>({2}));
}

TEST(DatasetIo, SaysWhatCannotBeRead) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.csv", "t,y\n0,abc\n");
  EXPECT_EQ(message_of<DataError>([&] { read_dataset(path); }),
            path + ":2: column y: \"abc\" is not a number");
  message_of<IoError>([&] { read_dataset(folder.file("nothing.csv")); });
  message_of<DataError>([&] { read_dataset(folder.file("a.parquet")); });
  // Whatever its name.
  for (const char* name : {"folder", "folder.csv", "folder.d"}) {
    const std::string place = folder.file(name);
    std::filesystem::create_directory(place);
    EXPECT_EQ(message_of<IoError>([&] { read_dataset(place); }),
              "cannot read " + place + ": it is a directory, but data are one file");
  }
}

// What fails halfway leaves the earlier file and nothing else.
TEST(DatasetIo, KnowsWhatNamesItCanWriteTo) {
  for (const char* name : {"-", "out.csv", "out.NPZ", "a.b/pipe"}) check_output_name(name);
  EXPECT_THROW(check_output_name("out.xlsx"), ConfigError);
}

TEST(DatasetIo, WritesAllOrNothing) {
  const ScratchFolder folder;
  for (const char* name : {"a.csv", "a.jsonl", "a.npz", "a.npy", "a.wav", "a.flac"}) {
    SCOPED_TRACE(name);
    folder.file(name, "before");
    Dataset data = example_dataset();
    data.series[1].y.pop_back();
    message_of<DataError>([&] { write_dataset(folder.file(name), data); });
    EXPECT_EQ(folder.content(name), "before");
  }
  EXPECT_EQ(folder.files(), 6U);
}

TEST(DatasetIo, FullDisk) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(message_of<IoError>([] { write_dataset("/dev/full", example_dataset()); }),
            "cannot write /dev/full: No space left on device");
}

TEST(DatasetIo, StandardInput) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.csv", "t,y\n0,1\n1,2\n");
  const int kept = ::dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(path.c_str(), "r", stdin), nullptr);
  const Dataset data = read_dataset("-");
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  EXPECT_EQ(data.source, "standard input");
  EXPECT_EQ(data.total_steps(), 2U);
}

}  // namespace
}  // namespace kalmia
