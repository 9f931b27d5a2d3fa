// Sound as bytes: samples, little endian, and the header of a WAV file, also of one that comes
// through a pipe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kalmia::data {

enum class SampleFormat { UInt8, Int16, Int24, Int32, Float32, Float64 };

int sample_bytes(SampleFormat format);

/// Whole numbers become fractions of full scale, -1 to just below 1. `bytes` holds `to.size()`
/// samples.
void decode_samples(SampleFormat format, std::string_view bytes, std::span<float> to);

/// The nearest whole number; what is beyond full scale is cut to it. Appends to `bytes` and returns
/// how many samples were cut: none of floats.
std::size_t encode_samples(SampleFormat format, std::span<const float> samples, std::string& bytes);

struct WavHeader {
  int rate = 0;  ///< samples a second
  int channels = 0;
  /// None: coded in another way than as numbers.
  std::optional<SampleFormat> format;
  std::uint32_t speakers = 0;  ///< a bit for each; 0: not said
  /// Of all samples. None: not known; they end where the input ends.
  std::optional<std::uint64_t> bytes;

  std::uint64_t bytes_per_step() const {
    return static_cast<std::uint64_t>(channels) * static_cast<std::uint64_t>(sample_bytes(*format));
  }
};

/// Reads RIFF and RF64 up to the first sample. `read` gives as many bytes as asked for, fewer only
/// at the end of the input. Programs that write into pipes leave lengths of 0, 2^31 or 2^32, which
/// count as not known. Throws DataError; `source` names the input.
WavHeader read_wav_header(const std::string& source,
                          const std::function<std::string(std::size_t)>& read);

/// Of a file with this format and number of bytes. None, or more than a header can say: the length
/// that other programs take as not known.
std::string wav_header_bytes(const WavHeader& header);

}  // namespace kalmia::data
