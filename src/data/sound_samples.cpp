#include "data/sound_samples.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kalmia::data {
namespace {

std::uint64_t little_endian(const char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

// A whole number of the upper bits: its sign is the highest one's.
float whole(const char* bytes, int count) {
  const auto upper = static_cast<std::uint32_t>(little_endian(bytes, count) << (8 * (4 - count)));
  return static_cast<float>(static_cast<std::int32_t>(upper)) * 0x1p-31f;
}

float decode(SampleFormat format, const char* bytes) {
  switch (format) {
    case SampleFormat::UInt8:
      return (static_cast<float>(static_cast<unsigned char>(*bytes)) - 128) / 128;
    case SampleFormat::Int16:
      return whole(bytes, 2);
    case SampleFormat::Int24:
      return whole(bytes, 3);
    case SampleFormat::Int32:
      return whole(bytes, 4);
    case SampleFormat::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(little_endian(bytes, 4)));
    case SampleFormat::Float64:
      return static_cast<float>(std::bit_cast<double>(little_endian(bytes, 8)));
  }
  return 0;
}

}  // namespace

void append_little_endian(std::uint64_t value, int count, std::string& bytes) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

int sample_bytes(SampleFormat format) {
  switch (format) {
    case SampleFormat::UInt8:
      return 1;
    case SampleFormat::Int16:
      return 2;
    case SampleFormat::Int24:
      return 3;
    case SampleFormat::Int32:
      return 4;
    case SampleFormat::Float32:
      return 4;
    case SampleFormat::Float64:
      return 8;
  }
  return 0;
}

void decode_samples(SampleFormat format, std::string_view bytes, std::span<float> to) {
  const auto width = static_cast<std::size_t>(sample_bytes(format));
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = decode(format, bytes.data() + i * width);
}

std::size_t encode_samples(SampleFormat format, std::span<const float> samples,
                           std::string& bytes) {
  const int width = sample_bytes(format);
  std::size_t cut = 0;
  for (const float sample : samples) {
    if (format == SampleFormat::Float32) {
      append_little_endian(std::bit_cast<std::uint32_t>(sample), width, bytes);
      continue;
    }
    if (format == SampleFormat::Float64) {
      append_little_endian(std::bit_cast<std::uint64_t>(static_cast<double>(sample)), width, bytes);
      continue;
    }
    const double full = std::ldexp(1.0, 8 * width - 1);
    double number = std::round(sample * full);
    if (number > full - 1 || number < -full) {
      number = number > 0 ? full - 1 : -full;
      ++cut;
    }
    if (format == SampleFormat::UInt8) number += full;
    append_little_endian(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)), width,
                         bytes);
  }
  return cut;
}

}  // namespace kalmia::data
