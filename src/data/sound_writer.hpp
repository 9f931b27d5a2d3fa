// Recordings of any length, written piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/sound_reader.hpp"

namespace kalmia::data {

/// The format that `sound` is written in: its own, but at least 16 bits, since coarser samples
/// would be noisy again, and floats of 32 bits. FLAC holds 16 or 24 bits.
SampleFormat written_format(SampleFormat sound, bool flac);

/// Throws DataError unless the name is one that sound can be written to: .wav, .flac, "-", or
/// without an ending, as those of devices and pipes, which get WAV.
void check_sound_name(const std::string& path);

/// Writes WAV, or FLAC where the path ends in .flac. The file appears at `commit`; what goes to "-"
/// (always WAV) or a pipe, as it is written.
class SoundWriter {
 public:
  /// `sound`: rate, channels and format of what is written; `steps`, if they are known, go into the
  /// header at once, and are put right at the end where that is possible. Throws DataError for
  /// another ending or what the format cannot hold, IoError.
  SoundWriter(const std::string& path, const SoundInfo& sound);
  ~SoundWriter();
  SoundWriter(const SoundWriter&) = delete;
  SoundWriter& operator=(const SoundWriter&) = delete;

  /// Samples, channels next to each other. Those beyond full scale are cut to it, unless floats are
  /// written. Throws IoError.
  void write(std::span<const float> samples);
  /// Sends everything on its way.
  void flush();
  void commit();
  /// Samples that were cut.
  std::uint64_t clipped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia::data
