#include <gtest/gtest.h>

#include "data/npy.hpp"
#include "data/zip.hpp"
#include "kalmia/model.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

Estimates example_estimates() {
  Estimates estimates;
  estimates.state_names = {"y", "y_rate"};
  estimates.key_name = "robot";
  estimates.time_name = "date";
  estimates.time_kind = TimeKind::Date;
  StateEstimates series;
  series.key = "r2";
  series.steps = 2;
  series.t = {0, 1};
  series.mean = {0.5, 2, 0.25, 4};
  series.covariance = {4, 0.5, 0.5, 9, 16, 0, 0, 0.25};
  estimates.series = {series};
  return estimates;
}

TEST(EstimatesWriter, Csv) {
  const ScratchFolder folder;
  write_estimates(folder.file("a.csv"), example_estimates());
  EXPECT_EQ(folder.content("a.csv"),
            "robot,date,y,y_std,y_rate,y_rate_std\n"
            "r2,1970-01-01T00:00:00,0.5,2,2,3\n"
            "r2,1970-01-01T00:00:01,0.25,4,4,0.5\n");
}

TEST(EstimatesWriter, CsvOfSamples) {
  const ScratchFolder folder;
  Estimates estimates = example_estimates();
  estimates.series.push_back(estimates.series[0]);
  estimates.series[0].covariance.clear();
  estimates.series[1].covariance.clear();
  estimates.series[1].key = "r2#1";
  estimates.series[1].steps = 1;
  estimates.series[1].mean.resize(2);
  estimates.series[1].t.resize(1);
  write_estimates(folder.file("a.csv"), estimates);
  EXPECT_EQ(folder.content("a.csv"),
            "robot,date,y,y_rate\n"
            "r2,1970-01-01T00:00:00,0.5,2\n"
            "r2,1970-01-01T00:00:01,0.25,4\n"
            "r2#1,1970-01-01T00:00:00,0.5,2\n");
}

TEST(EstimatesWriter, JsonLines) {
  const ScratchFolder folder;
  write_estimates(folder.file("a.jsonl"), example_estimates());
  EXPECT_EQ(
      folder.content("a.jsonl"),
      "{\"robot\":\"r2\",\"date\":\"1970-01-01T00:00:00\",\"y\":0.5,\"y_std\":2,\"y_rate\":2,"
      "\"y_rate_std\":3}\n"
      "{\"robot\":\"r2\",\"date\":\"1970-01-01T00:00:01\",\"y\":0.25,\"y_std\":4,\"y_rate\":4,"
      "\"y_rate_std\":0.5}\n");
}

TEST(EstimatesWriter, Arrays) {
  const ScratchFolder folder;
  write_estimates(folder.file("a.npz"), example_estimates());
  const std::string bytes = folder.content("a.npz");
  const data::ZipReader zip("a.npz", bytes);
  EXPECT_EQ(data::parse_npy("a", zip.read("mean.npy")).values,
            std::vector<double>({0.5, 2, 0.25, 4}));
  EXPECT_EQ(data::parse_npy("a", zip.read("covariance.npy")).shape,
            std::vector<std::size_t>({2, 2, 2}));
  EXPECT_EQ(data::parse_npy("a", zip.read("t.npy")).kind, data::NpyArray::Kind::Date);
  write_estimates(folder.file("a.npy"), example_estimates());
  EXPECT_EQ(data::parse_npy("a", folder.content("a.npy")).values,
            std::vector<double>({0.5, 2, 0.25, 4}));
}

TEST(EstimatesWriter, Audio) {
  const ScratchFolder folder;
  for (const char* name : {"a.wav", "a.flac"}) {
    Estimates estimates = example_estimates();
    estimates.measured_columns = 1;
    write_estimates(folder.file(name), estimates);
    const Dataset sound = read_dataset(folder.file(name));
    EXPECT_EQ(sound.series[0].y, std::vector<double>({0.5, 0.25})) << name;
    EXPECT_EQ(sound.step_size(), 1) << name;
  }
}

TEST(EstimatesWriter, AllOrNothing) {
  const ScratchFolder folder;
  folder.file("a.csv", "before");
  Estimates estimates = example_estimates();
  estimates.series[0].mean.pop_back();
  message_of<DataError>([&] { write_estimates(folder.file("a.csv"), estimates); });
  EXPECT_EQ(folder.content("a.csv"), "before");
  EXPECT_EQ(folder.files(), 1U);
}

}  // namespace
}  // namespace kalmia
