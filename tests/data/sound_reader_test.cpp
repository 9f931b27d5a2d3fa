#include "data/sound_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "data/sound_writer.hpp"
#include "data/wav.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using data::SampleFormat;
using data::SoundReader;

std::vector<float> read_all(SoundReader& reader, std::size_t room = 10) {
  std::vector<float> all, some(room * static_cast<std::size_t>(reader.info().channels));
  while (const std::size_t got = reader.read(some))
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
  return all;
}

std::vector<float> ramp(int count) {
  std::vector<float> samples;
  for (int n = 0; n < count; ++n) samples.push_back(static_cast<float>(n - count / 2) / 256);
  return samples;
}

std::string wav(const std::vector<float>& samples, int channels, SampleFormat format,
                bool known = true) {
  data::WavHeader header;
  header.rate = 8000;
  header.channels = channels;
  header.format = format;
  std::string bytes;
  encode_samples(format, samples, bytes);
  if (known) header.bytes = bytes.size();
  return wav_header_bytes(header) + bytes;
}

// Another end of a pipe, written to from a thread of its own.
class Pipe {
 public:
  explicit Pipe(std::string bytes) : bytes_(std::move(bytes)) {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
    writer_ = std::thread([this] {
      for (std::size_t at = 0; at < bytes_.size(); at += 7)
        if (::write(ends_[1], bytes_.data() + at, std::min<std::size_t>(7, bytes_.size() - at)) < 0)
          break;
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  std::string bytes_;
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

TEST(SoundReader, ReadsEveryWidthFromFilesAndPipes) {
  const ScratchFolder folder;
  const std::vector<float> samples = ramp(42);
  for (const SampleFormat format : {SampleFormat::Int16, SampleFormat::Int24, SampleFormat::Int32,
                                    SampleFormat::Float32, SampleFormat::Float64})
    for (const int channels : {1, 2, 3})
      for (const bool known : {true, false}) {
        const std::string bytes = wav(samples, channels, format, known);
        SoundReader file(folder.file("a.wav", bytes));
        EXPECT_EQ(file.info().rate, 8000);
        EXPECT_EQ(file.info().channels, channels);
        EXPECT_EQ(file.info().format, format);
        EXPECT_EQ(file.info().steps.has_value(), known);
        EXPECT_EQ(read_all(file), samples);
        EXPECT_FALSE(file.cut_off());
        EXPECT_FALSE(file.would_wait());
        const Pipe pipe(bytes);
        SoundReader piped(pipe.path());
        EXPECT_EQ(read_all(piped), samples);
        EXPECT_FALSE(piped.cut_off());
      }
}

TEST(SoundReader, ReadsFlac) {
  const ScratchFolder folder;
  const std::vector<float> samples = ramp(42);
  data::SoundWriter writer(folder.file("a.flac"), {8000, 2, SampleFormat::Int24, 0, {}});
  writer.write(samples);
  writer.commit();
  SoundReader reader(folder.file("a.flac"));
  EXPECT_EQ(reader.info().channels, 2);
  EXPECT_EQ(reader.info().format, SampleFormat::Int24);
  EXPECT_EQ(reader.info().steps, 21U);
  EXPECT_EQ(read_all(reader), samples);
}

TEST(SoundReader, WhatFollowsTheSamplesIsNoSound) {
  const ScratchFolder folder;
  const std::vector<float> samples = ramp(10);
  SoundReader reader(
      folder.file("a.wav", wav(samples, 1, SampleFormat::Int16) + "LIST\x04\0\0\0abcd"));
  EXPECT_EQ(read_all(reader), samples);
}

TEST(SoundReader, AShorterFileThanAnnouncedIsSaid) {
  const ScratchFolder folder;
  const std::string bytes = wav(ramp(20), 2, SampleFormat::Int16);
  for (const std::size_t less : {1U, 4U, 30U}) {
    SoundReader reader(folder.file("a.wav", bytes.substr(0, bytes.size() - less)));
    EXPECT_EQ(read_all(reader).size(), 2 * ((40 - less) / 4));
    EXPECT_TRUE(reader.cut_off()) << less;
  }
}

TEST(SoundReader, RawSamples) {
  const ScratchFolder folder;
  const std::vector<float> samples = ramp(20);
  std::string bytes;
  encode_samples(SampleFormat::Int16, samples, bytes);
  SoundReader reader(folder.file("a.raw", bytes), data::RawSound{22050, 2});
  EXPECT_EQ(reader.info().rate, 22050);
  EXPECT_FALSE(reader.info().steps);
  EXPECT_EQ(read_all(reader), samples);
}

TEST(SoundReader, SaysWhenItWouldWait) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes = wav(ramp(8), 1, SampleFormat::Int16, false);
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  SoundReader reader("/dev/fd/" + std::to_string(ends[0]));
  EXPECT_FALSE(reader.would_wait());
  std::vector<float> samples(100);
  // What has come, without waiting for more.
  EXPECT_EQ(reader.read(samples), 8U);
  EXPECT_TRUE(reader.would_wait());
  ::close(ends[1]);
  EXPECT_FALSE(reader.would_wait());
  EXPECT_EQ(reader.read(samples), 0U);
  ::close(ends[0]);
}

TEST(SoundReader, RefusesWhatIsNoSound) {
  const ScratchFolder folder;
  const auto refusal = [](const std::string& path) {
    return message_of<DataError>([&] { SoundReader reader(path); });
  };
  EXPECT_NE(refusal(folder.file("a.wav", "")).find("nothing in it"), std::string::npos);
  EXPECT_NE(refusal(folder.file("b.wav", "hello, world")).find("b.wav: not audio"),
            std::string::npos);
  EXPECT_NE(refusal(folder.file("c.wav", "RIFF")).find("cut off"), std::string::npos);
  const Pipe text("hello, world");
  EXPECT_NE(refusal(text.path()).find("only WAV"), std::string::npos);
  EXPECT_THROW(SoundReader(folder.file("no.wav")), IoError);
  EXPECT_THROW(SoundReader(folder.file(".")), IoError);
}

}  // namespace
}  // namespace kalmia::test
