#include "data/wav.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using data::SampleFormat;
using data::WavHeader;

// Reads from text, and counts.
struct Input {
  std::string bytes;
  std::size_t at = 0;
  std::string operator()(std::size_t count) {
    const std::string some = bytes.substr(std::min(at, bytes.size()), count);
    at += some.size();
    return some;
  }
};

WavHeader parse(const std::string& bytes, std::size_t* used = nullptr) {
  Input input{bytes};
  const WavHeader header = data::read_wav_header("x", [&](std::size_t n) { return input(n); });
  if (used != nullptr) *used = input.at;
  return header;
}

std::string refusal(const std::string& bytes) {
  return message_of<DataError>([&] { parse(bytes); });
}

WavHeader stereo() {
  WavHeader header;
  header.rate = 44100;
  header.channels = 2;
  header.format = SampleFormat::Int24;
  header.bytes = 600;
  return header;
}

std::string with_sizes(std::uint32_t riff, std::uint32_t data) {
  std::string bytes = wav_header_bytes(stereo());
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[4 + i] = static_cast<char>((riff >> (8 * i)) & 0xff);
    bytes[40 + i] = static_cast<char>((data >> (8 * i)) & 0xff);
  }
  return bytes;
}

TEST(WavHeader, BackIsTheSame) {
  for (const int channels : {1, 2, 6})
    for (const SampleFormat format :
         {SampleFormat::UInt8, SampleFormat::Int16, SampleFormat::Int24, SampleFormat::Int32,
          SampleFormat::Float32, SampleFormat::Float64}) {
      WavHeader header = stereo();
      header.channels = channels;
      header.format = format;
      header.speakers = channels > 2 ? 0x3f : 0;
      const std::string bytes = wav_header_bytes(header);
      std::size_t used = 0;
      const WavHeader found = parse(bytes + "samples", &used);
      EXPECT_EQ(used, bytes.size());
      EXPECT_EQ(found.rate, 44100);
      EXPECT_EQ(found.channels, channels);
      EXPECT_EQ(found.format, format);
      EXPECT_EQ(found.speakers, header.speakers);
      EXPECT_EQ(found.bytes, 600U);
    }
}

TEST(WavHeader, LengthsOfPipesAreNotKnown) {
  for (const std::uint32_t size : {0xffffffffU, 0x7ffff000U, 0x7fffffffU})
    EXPECT_FALSE(parse(with_sizes(size, size)).bytes) << size;
  EXPECT_FALSE(parse(with_sizes(0, 0)).bytes);
  EXPECT_EQ(parse(with_sizes(36, 0)).bytes, 0U);  // really nothing
  EXPECT_EQ(parse(with_sizes(0, 600)).bytes, 600U);
  WavHeader unknown = stereo();
  unknown.bytes.reset();
  EXPECT_FALSE(parse(wav_header_bytes(unknown)).bytes);
  unknown.bytes = std::uint64_t{5} << 30;  // more than a header can say
  EXPECT_FALSE(parse(wav_header_bytes(unknown)).bytes);
}

TEST(WavHeader, SkipsWhatItDoesNotKnow) {
  std::string bytes = wav_header_bytes(stereo());
  bytes.insert(12, std::string("LIST\x03\0\0\0abc\0", 12));  // with the byte that makes it even
  EXPECT_EQ(parse(bytes).rate, 44100);
}

TEST(WavHeader, LongFiles) {
  std::string bytes = with_sizes(0xffffffff, 0xffffffff);
  bytes.replace(0, 4, "RF64");
  std::string ds64("ds64\x1c\0\0\0", 8);
  ds64 += std::string(8, '\x11') + std::string("\0\0\0\0\x02\0\0\0", 8) + std::string(12, '\0');
  bytes.insert(12, ds64);
  EXPECT_EQ(parse(bytes).bytes, std::uint64_t{2} << 32);
}

TEST(WavHeader, CodedSamplesHaveNoFormat) {
  std::string bytes = wav_header_bytes(stereo());
  bytes[20] = 2;  // ADPCM
  EXPECT_FALSE(parse(bytes).format);
}

TEST(WavHeader, RefusesDamage) {
  const std::string whole = wav_header_bytes(stereo());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(whole.substr(0, size)).find("x: "), std::string::npos) << size;
  EXPECT_NE(refusal("RIFF....AVI LIST").find("not WAV"), std::string::npos);
  EXPECT_NE(refusal(whole.substr(0, 12) + whole.substr(36)).find("no fmt"), std::string::npos);
  std::string damaged = whole;
  damaged[22] = damaged[23] = 0;
  EXPECT_NE(refusal(damaged).find("0 channels"), std::string::npos);
  damaged = whole;
  damaged[18] = 1;  // fmt of 65552 bytes
  EXPECT_NE(refusal(damaged).find("65552 bytes"), std::string::npos);
  damaged[18] = 0;
  damaged[16] = 4;
  EXPECT_NE(refusal(damaged).find("needs 16"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::test
