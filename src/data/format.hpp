// Which format a file has, by its name.
#pragma once

#include <string>

namespace kalmia::data {

enum class Format { Csv, Npy, Npz, Wav, Flac, JsonLines };

/// By what follows the last point of the name, in capital letters or not. "-" and names without a
/// point (devices, pipes) are CSV. Throws DataError that lists the formats for any other.
Format format_of(const std::string& path);

}  // namespace kalmia::data
