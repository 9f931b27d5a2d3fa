// Recordings of any length, read piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/wav.hpp"

namespace kalmia::data {

/// Sound without a header: 16-bit whole numbers, little endian.
struct RawSound {
  int rate = 0;
  int channels = 1;
};

/// What a recording says of itself.
struct SoundInfo {
  int rate = 0;  ///< samples a second
  int channels = 0;
  SampleFormat format = SampleFormat::Int16;  ///< nearest to how it is stored
  std::uint32_t speakers = 0;                 ///< see WavHeader
  std::optional<std::uint64_t> steps;         ///< samples of a channel, if it says so
};

/// Reads WAV from anywhere, pipes included, and from files whatever libsndfile knows.
class SoundReader {
 public:
  /// "-" is standard input. Throws IoError, DataError.
  explicit SoundReader(const std::string& path, const std::optional<RawSound>& raw = {});
  ~SoundReader();
  SoundReader(const SoundReader&) = delete;
  SoundReader& operator=(const SoundReader&) = delete;

  const SoundInfo& info() const;
  /// Reads samples, channels next to each other, and returns how many: whole steps, as many as
  /// there is room for or, of a pipe, as have come. 0: the end. Throws IoError, DataError.
  std::size_t read(std::span<float> to);
  /// Whether the next read would wait for input.
  bool would_wait() const;
  /// After the end: there was less than the header announced.
  bool cut_off() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia::data
