// Samples of sound as bytes, little endian.
#pragma once

#include <cstdint>
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

/// The lowest `count` bytes of a number.
void append_little_endian(std::uint64_t value, int count, std::string& bytes);

}  // namespace kalmia::data
