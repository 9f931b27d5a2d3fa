#include "data/sound_writer.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "data/audio.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using data::SampleFormat;
using data::SoundInfo;
using data::SoundWriter;

SoundInfo info(int channels, SampleFormat format, std::optional<std::uint64_t> steps = {}) {
  return {16000, channels, format, 0, steps};
}

// As libsndfile reads it, which knows nothing of the writer.
data::Sound read(const ScratchFolder& folder, const std::string& name) {
  return data::read_sound(name, folder.content(name));
}

TEST(SoundWriter, WritesWhatOthersRead) {
  const ScratchFolder folder;
  const std::vector<float> samples = {0, 0.5f, -0.25f, 0.125f, -1, 0.75f};
  for (const char* name : {"a.wav", "a.flac"})
    for (const SampleFormat format :
         {SampleFormat::Int16, SampleFormat::Int24, SampleFormat::Int32, SampleFormat::Float32})
      for (const int channels : {1, 2, 3})
        for (const std::optional<std::uint64_t> steps :
             {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(6 / channels),
              std::optional<std::uint64_t>(99)}) {  // a wrong length is put right
          SoundWriter writer(folder.file(name), info(channels, format, steps));
          writer.write(samples);
          writer.commit();
          EXPECT_EQ(writer.clipped(), 0U);
          EXPECT_EQ(data::SoundReader(folder.file(name)).info().steps,
                    static_cast<std::uint64_t>(6 / channels));
          const data::Sound sound = read(folder, name);
          EXPECT_EQ(sound.rate, 16000);
          EXPECT_EQ(sound.channels, static_cast<std::size_t>(channels));
          EXPECT_EQ(sound.values, std::vector<double>(samples.begin(), samples.end())) << name;
        }
  EXPECT_EQ(folder.files(), 2U);
}

TEST(SoundWriter, KeepsTheWidthButAtLeast16Bits) {
  EXPECT_EQ(written_format(SampleFormat::UInt8, false), SampleFormat::Int16);
  EXPECT_EQ(written_format(SampleFormat::Int24, false), SampleFormat::Int24);
  EXPECT_EQ(written_format(SampleFormat::Int32, false), SampleFormat::Int32);
  EXPECT_EQ(written_format(SampleFormat::Float64, false), SampleFormat::Float32);
  EXPECT_EQ(written_format(SampleFormat::Float32, true), SampleFormat::Int24);
}

TEST(SoundWriter, CountsWhatItCuts) {
  const ScratchFolder folder;
  for (const char* name : {"a.wav", "a.flac"}) {
    SoundWriter writer(folder.file(name), info(1, SampleFormat::Int16));
    writer.write(std::vector<float>{0.5f, 1.5f, -2});
    writer.write(std::vector<float>{3});
    writer.commit();
    EXPECT_EQ(writer.clipped(), 3U);
    const double most = 32767.0 / 32768;
    EXPECT_EQ(read(folder, name).values, (std::vector<double>{0.5, most, -1, most})) << name;
  }
}

TEST(SoundWriter, WithoutCommitNothingIsThere) {
  const ScratchFolder folder;
  for (const char* name : {"a.wav", "a.flac"}) {
    SoundWriter writer(folder.file(name), info(1, SampleFormat::Int16));
    writer.write(std::vector<float>(100000, 0.5f));
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(SoundWriter, NamesOfSound) {
  for (const char* name : {"-", "a.wav", "a.FLAC", "/dev/null", "a.b/pipe"})
    EXPECT_NO_THROW(data::check_sound_name(name)) << name;
  for (const char* name : {"a.csv", "a.mp3", "a."})
    EXPECT_THROW(data::check_sound_name(name), DataError) << name;
}

TEST(SoundWriter, RefusesWhatItCannotWrite) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& name, const SoundInfo& sound) {
    return message_of<DataError>([&] { SoundWriter(folder.file(name), sound); });
  };
  for (const char* name : {"a.csv", "a.mp3"})
    EXPECT_NE(refusal(name, info(1, SampleFormat::Int16)).find(".wav or .flac"), std::string::npos);
  EXPECT_NE(refusal("a.flac", info(9, SampleFormat::Int16)).find("9 channels"), std::string::npos);
  EXPECT_THROW(SoundWriter(folder.file("no/a.wav"), info(1, SampleFormat::Int16)), IoError);
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace kalmia::test
