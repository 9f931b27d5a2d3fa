// Series as sound: WAV and FLAC.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"
#include "data/file.hpp"
#include "kalmia/data.hpp"
#include "kalmia/estimates.hpp"

namespace kalmia::data {

/// A recording.
struct Sound {
  int rate = 0;  ///< samples a second
  std::size_t channels = 0;
  std::vector<double> values;  ///< steps x channels
  std::size_t steps() const { return values.size() / channels; }
};

/// Reads WAV, FLAC and what else libsndfile knows; whole numbers are scaled to [-1, 1). `source`
/// names the file in messages. Throws DataError.
Sound read_sound(const std::string& source, std::string_view bytes);
/// WAV holds 32-bit floats and so takes any value; FLAC holds 24-bit whole numbers, so values must
/// lie within [-1, 1] and none may be missing. Throws DataError.
void write_sound(const std::string& path, Format format, const Sound& sound, AtomicFile& file);

/// Reads one series from a recording: a measured column per channel (`y` if there is one, else
/// `channel1`, `channel2`, ...), time t = step / rate in seconds. Throws DataError.
Dataset read_audio(const std::string& source, std::string_view bytes, const DataOptions& options);

/// Writes the measurements of one series as channels, at the rate 1 / step. Throws DataError, also
/// for several series or a rate that is no whole number of samples a second.
void write_audio(const std::string& path, Format format, const Dataset& data, AtomicFile& file);
/// The same with the means of the states that are no rates of change: those whose names do not end
/// in `_rate` or `_acceleration`, nor begin with `latent_`.
void write_audio(const std::string& path, Format format, const Estimates& estimates,
                 AtomicFile& file);

}  // namespace kalmia::data
