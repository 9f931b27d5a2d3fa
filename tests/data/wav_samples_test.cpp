#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "data/wav.hpp"

namespace kalmia::test {
namespace {

using data::SampleFormat;

std::vector<float> decoded(SampleFormat format, const std::string& bytes) {
  std::vector<float> samples(bytes.size() / static_cast<std::size_t>(sample_bytes(format)));
  decode_samples(format, bytes, samples);
  return samples;
}

TEST(SoundSamples, WholeNumbersAreFractionsOfFullScale) {
  EXPECT_EQ(decoded(SampleFormat::UInt8, std::string("\x00\x80\xff", 3)),
            (std::vector<float>{-1, 0, 127.0f / 128}));
  EXPECT_EQ(decoded(SampleFormat::Int16, std::string("\x00\x80\xff\x7f\x01\x00\xff\xff", 8)),
            (std::vector<float>{-1, 32767.0f / 32768, 1.0f / 32768, -1.0f / 32768}));
  EXPECT_EQ(decoded(SampleFormat::Int24, std::string("\x00\x00\x80\xff\xff\xff", 6)),
            (std::vector<float>{-1, -1.0f / 8388608}));
  EXPECT_EQ(decoded(SampleFormat::Int32, std::string("\x00\x00\x00\x80\x00\x00\x00\x40", 8)),
            (std::vector<float>{-1, 0.5f}));
}

TEST(SoundSamples, FloatsStayAsTheyAre) {
  const std::vector<float> samples = {0.1f, -3, 1e-20f, std::numeric_limits<float>::infinity()};
  for (const SampleFormat format : {SampleFormat::Float32, SampleFormat::Float64}) {
    std::string bytes;
    EXPECT_EQ(encode_samples(format, samples, bytes), 0U);
    EXPECT_EQ(decoded(format, bytes), samples);
  }
}

TEST(SoundSamples, RoundsAndCutsToFullScale) {
  std::string bytes;
  const std::vector<float> samples = {1.0f, -1.0f, 1.5f, -1.5f, 0.4f / 32768, 0.6f / 32768};
  EXPECT_EQ(encode_samples(SampleFormat::Int16, samples, bytes), 3U);  // not -1
  EXPECT_EQ(decoded(SampleFormat::Int16, bytes),
            (std::vector<float>{32767.0f / 32768, -1, 32767.0f / 32768, -1, 0, 1.0f / 32768}));
}

TEST(SoundSamples, BackIsTheSame) {
  for (const SampleFormat format :
       {SampleFormat::UInt8, SampleFormat::Int16, SampleFormat::Int24, SampleFormat::Int32}) {
    const std::vector<float> samples = {0, 0.5f, -0.5f, -1, 0.25f, -0.125f};
    std::string bytes;
    EXPECT_EQ(encode_samples(format, samples, bytes), 0U);
    ASSERT_EQ(bytes.size(), samples.size() * static_cast<std::size_t>(sample_bytes(format)));
    EXPECT_EQ(decoded(format, bytes), samples);
  }
}

}  // namespace
}  // namespace kalmia::test
