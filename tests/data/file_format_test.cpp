#include "data/file.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

TEST(Format, FollowsFromTheName) {
  EXPECT_EQ(format_of("a.csv"), Format::Csv);
  EXPECT_EQ(format_of("a.b/c.TSV"), Format::Csv);
  EXPECT_EQ(format_of("a.txt"), Format::Csv);
  EXPECT_EQ(format_of("-"), Format::Csv);
  EXPECT_EQ(format_of("/dev/stdin"), Format::Csv);
  EXPECT_EQ(format_of("a.b/c"), Format::Csv);
  EXPECT_EQ(format_of("a.npy"), Format::Npy);
  EXPECT_EQ(format_of("a.csv.npz"), Format::Npz);
  EXPECT_EQ(format_of("a.WAV"), Format::Wav);
  EXPECT_EQ(format_of("a.flac"), Format::Flac);
  EXPECT_EQ(format_of("a.jsonl"), Format::JsonLines);
  EXPECT_EQ(format_of("a.ndjson"), Format::JsonLines);
}

TEST(Format, RefusesOthersAndListsTheKnown) {
  const std::string message = message_of<DataError>([] { format_of("a.parquet"); });
  EXPECT_NE(message.find("a.parquet: no format ends in .parquet"), std::string::npos) << message;
  EXPECT_NE(message.find(".npz"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia::data
