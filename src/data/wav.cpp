#include "data/wav.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kalmia/error.hpp"

namespace kalmia::data {
namespace {

std::uint64_t little_endian(const char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

void append(std::uint64_t value, int count, std::string& bytes) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
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
      append(std::bit_cast<std::uint32_t>(sample), width, bytes);
      continue;
    }
    if (format == SampleFormat::Float64) {
      append(std::bit_cast<std::uint64_t>(static_cast<double>(sample)), width, bytes);
      continue;
    }
    const double full = std::ldexp(1.0, 8 * width - 1);
    double number = std::round(sample * full);
    if (number > full - 1 || number < -full) {
      number = number > 0 ? full - 1 : -full;
      ++cut;
    }
    if (format == SampleFormat::UInt8) number += full;
    append(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)), width, bytes);
  }
  return cut;
}

namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
constexpr unsigned kPcm = 1, kFloat = 3, kExtensible = 0xfffe;
constexpr std::size_t kPlainFormat = 16, kExtensibleFormat = 40;
// The rest of the identifier of a format, after the number that a plain header has.
constexpr char kFormatGuid[] = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";

std::uint64_t number(const std::string& bytes, std::size_t at, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])}
             << (8 * i);
  return value;
}

// What ffmpeg, sox, arecord and GStreamer write when they cannot know the length.
bool is_placeholder(std::uint32_t size) {
  return size >= 0xffffff00 || (size >= 0x7ffff000 && size <= 0x7fffffff);
}

class HeaderReader {
 public:
  HeaderReader(const std::string& source, const std::function<std::string(std::size_t)>& read)
      : source_(source), read_(read) {}

  WavHeader run() {
    const std::string start = exactly(12);
    if ((!start.starts_with("RIFF") && !start.starts_with("RF64")) || start.substr(8) != "WAVE")
      throw DataError(source_ + ": not WAV, which begins with RIFF and WAVE");
    const auto riff_size = static_cast<std::uint32_t>(number(start, 4, 4));
    std::optional<std::uint64_t> long_size;
    WavHeader header;
    while (true) {
      const std::string chunk = exactly(8);
      const std::string name = chunk.substr(0, 4);
      const auto size = static_cast<std::uint32_t>(number(chunk, 4, 4));
      if (name == "data") {
        if (header.channels == 0)
          throw DataError(source_ +
                          ": samples without a description (no fmt before data); the "
                          "file is damaged");
        const bool unknown = is_placeholder(size) || (size == 0 && riff_size == 0);
        if (size == kUnknown && long_size)
          header.bytes = long_size;
        else if (!unknown)
          header.bytes = size;
        return header;
      }
      if (name == "fmt ")
        read_format(size, header);
      else if (name == "ds64" && size >= 16)
        long_size = number(sized(size), 8, 8);
      else
        skip(size);
    }
  }

 private:
  std::string exactly(std::size_t count) {
    std::string bytes = read_(count);
    if (bytes.size() < count)
      throw DataError(source_ + ": the WAV file ends before its samples begin; it is cut off");
    return bytes;
  }

  // Of a chunk, with the byte that makes its length even.
  std::string sized(std::uint32_t size) {
    constexpr std::uint32_t kLargest = 1 << 16;
    if (size > kLargest)
      throw DataError(source_ + ": a part of the WAV header has " + std::to_string(size) +
                      " bytes, but " + std::to_string(kLargest) +
                      " is the most that makes sense; the file is damaged");
    return exactly(size + size % 2);
  }

  void skip(std::uint32_t size) {
    for (std::uint64_t left = std::uint64_t{size} + size % 2; left > 0;)
      left -= exactly(std::min<std::uint64_t>(left, 1 << 16)).size();
  }

  void read_format(std::uint32_t size, WavHeader& header) {
    if (size < kPlainFormat)
      throw DataError(source_ + ": the description of the samples has " + std::to_string(size) +
                      " bytes, but needs 16; the file is damaged");
    const std::string format = sized(size);
    auto tag = static_cast<unsigned>(number(format, 0, 2));
    if (tag == kExtensible && size >= kExtensibleFormat) {
      header.speakers = static_cast<std::uint32_t>(number(format, 20, 4));
      tag = static_cast<unsigned>(number(format, 24, 2));
    }
    header.channels = static_cast<int>(number(format, 2, 2));
    const std::uint64_t rate = number(format, 4, 4);
    if (header.channels < 1 || rate < 1 || rate > std::numeric_limits<int>::max())
      throw DataError(source_ + ": " + std::to_string(header.channels) + " channels at " +
                      std::to_string(rate) +
                      " samples a second, but both must be >= 1; the file is damaged");
    header.rate = static_cast<int>(rate);
    // Of 20 bits in 3 bytes the lower ones are 0.
    const std::uint64_t width = number(format, 12, 2) / static_cast<unsigned>(header.channels);
    for (const SampleFormat each :
         {SampleFormat::UInt8, SampleFormat::Int16, SampleFormat::Int24, SampleFormat::Int32})
      if (tag == kPcm && static_cast<int>(width) == sample_bytes(each)) header.format = each;
    for (const SampleFormat each : {SampleFormat::Float32, SampleFormat::Float64})
      if (tag == kFloat && static_cast<int>(width) == sample_bytes(each)) header.format = each;
  }

  const std::string& source_;
  const std::function<std::string(std::size_t)>& read_;
};

}  // namespace

WavHeader read_wav_header(const std::string& source,
                          const std::function<std::string(std::size_t)>& read) {
  return HeaderReader(source, read).run();
}

std::string wav_header_bytes(const WavHeader& header) {
  const bool is_float =
      header.format == SampleFormat::Float32 || header.format == SampleFormat::Float64;
  const unsigned tag = is_float ? kFloat : kPcm;
  // Where more than two channels stand is a matter of the longer header.
  const bool extensible = header.channels > 2;
  const int bits = 8 * sample_bytes(*header.format);
  std::string format;
  append(extensible ? kExtensible : tag, 2, format);
  append(static_cast<std::uint64_t>(header.channels), 2, format);
  append(static_cast<std::uint64_t>(header.rate), 4, format);
  append(static_cast<std::uint64_t>(header.rate) * header.bytes_per_step(), 4, format);
  append(header.bytes_per_step(), 2, format);
  append(static_cast<std::uint64_t>(bits), 2, format);
  if (extensible) {
    append(22, 2, format);
    append(static_cast<std::uint64_t>(bits), 2, format);
    append(header.speakers, 4, format);
    append(tag, 2, format);
    format.append(kFormatGuid, 14);
  }
  // RIFF counts what follows its length.
  const std::uint64_t around = 4 + 8 + format.size() + 8;
  const std::uint64_t data = header.bytes.value_or(kUnknown);
  const std::uint64_t all = around + data + data % 2;
  const bool known = header.bytes && all < kUnknown;
  std::string bytes = "RIFF";
  append(known ? all : kUnknown, 4, bytes);
  bytes += "WAVEfmt ";
  append(format.size(), 4, bytes);
  bytes += format + "data";
  append(known ? data : kUnknown, 4, bytes);
  return bytes;
}

}  // namespace kalmia::data
