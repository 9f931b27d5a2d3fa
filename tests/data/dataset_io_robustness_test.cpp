// Whatever a file holds, reading it either works or throws an error of ours.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "data/audio.hpp"
#include "data/csv.hpp"
#include "data/json_lines.hpp"
#include "data/npz.hpp"
#include "kalmia/data.hpp"
#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr int kRounds = 4000;

// Pieces that readers may stumble over.
const std::vector<std::string> kPieces = {"\"",         "\"\"", ",",
                                          "\n",         "\r",   "\r\n",
                                          ";",          "\t",   std::string(1, '\0'),
                                          "1e999",      "-",    "NaN",
                                          "inf",        "null", "{",
                                          "}",          "[",    "]",
                                          ":",          "'",    "(",
                                          ")",          "0",    "9999999999999999999",
                                          "2020-13-45", "\xFF", "\xEF\xBB\xBF",
                                          "-1e-999"};

std::string mutated(std::string bytes, RandomStream& random) {
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = bytes.empty() ? 0 : random.below(bytes.size());
    switch (random.below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random.below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, kPieces[random.below(kPieces.size())]);
        break;
      case 4:
        bytes.erase(at, random.below(20));
        break;
      default:
        bytes.insert(at, bytes.substr(random.below(bytes.size() + 1), random.below(40)));
        break;
    }
  }
  return bytes;
}

// The data that come out are whole: arrays have the sizes that the names ask for.
void expect_whole(const Dataset& data) {
  EXPECT_FALSE(data.series.empty());
  EXPECT_FALSE(data.y_names.empty());
  for (const Series& s : data.series) {
    EXPECT_GT(s.steps, 0);
    const auto steps = static_cast<std::size_t>(s.steps);
    EXPECT_EQ(s.y.size(), steps * data.y_names.size());
    EXPECT_EQ(s.x.size(), steps * data.x_names.size());
    EXPECT_EQ(s.u.size(), steps * data.u_names.size());
    EXPECT_EQ(s.t.size(), data.time_kind == TimeKind::None ? 0 : steps);
    for (const double value : s.y) EXPECT_FALSE(std::abs(value) > 1e100);
  }
}

template <typename Read>
void expect_sturdy(const char* name, const std::string& valid, const Read& read) {
  expect_whole(read(valid));
  RandomStream random(11, name);
  int parsed = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = mutated(valid, random);
    try {
      expect_whole(read(bytes));
      ++parsed;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "") << "round " << round;
      ++refused;
    }
  }
  // Both happen, or else the mutations test nothing.
  EXPECT_GT(parsed, kRounds / 1000) << name;
  EXPECT_GT(refused, kRounds / 20) << name;
  for (std::size_t size = 0; size < std::min<std::size_t>(valid.size(), 2000); ++size) {
    try {
      expect_whole(read(valid.substr(0, size)));
    } catch (const Error&) {
      ++refused;
    }
  }
}

std::string file_of(const std::string& name, const Dataset& data) {
  const ScratchFolder folder;
  write_dataset(folder.file(name), data);
  return folder.content(name);
}

TEST(DatasetIoRobustness, Csv) {
  expect_sturdy("csv", file_of("a.csv", example_dataset()),
                [](const std::string& bytes) { return read_csv("a", bytes, {}); });
  const std::string dated = "date;level;text\n2020-01-01;1;x\n2020-01-02T12:00:00.5Z;;\"y;z\"\n";
  expect_sturdy("dates", dated, [](const std::string& bytes) { return read_csv("a", bytes, {}); });
}

TEST(DatasetIoRobustness, JsonLines) {
  expect_sturdy("jsonl", file_of("a.jsonl", example_dataset()),
                [](const std::string& bytes) { return read_json_lines("a", bytes, {}); });
  // Nesting must not use up the stack.
  message_of<DataError>([] { read_json_lines("a", std::string(5000000, '['), {}); });
  message_of<DataError>([] { read_json_lines("a", "{\"y\":" + std::string(5000000, '['), {}); });
}

TEST(DatasetIoRobustness, Npz) {
  Dataset data = example_dataset();
  expect_sturdy("npz", file_of("a.npz", data),
                [](const std::string& bytes) { return read_npz("a", bytes, {}); });
  data.series.resize(1);
  expect_sturdy("npy", file_of("a.npy", data),
                [](const std::string& bytes) { return read_npy("a", bytes, {}); });
}

TEST(DatasetIoRobustness, Audio) {
  Dataset sound;
  sound.time_kind = TimeKind::Number;
  sound.y_names = {"y"};
  Series series;
  series.steps = 300;
  for (int k = 0; k < series.steps; ++k) {
    series.y.push_back((k % 64) / 64.0);
    series.t.push_back(k / 8000.0);
  }
  sound.series = {series};
  for (const char* name : {"a.wav", "a.flac"})
    expect_sturdy(name, file_of(name, sound),
                  [](const std::string& bytes) { return read_audio("a", bytes, {}); });
}

}  // namespace
}  // namespace kalmia::data
